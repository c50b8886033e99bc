import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

const PRINTED = `	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", response.Status, body)
	}
	fmt.Println(string(body))`;

const savedAs = (name: string) => `	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		log.Fatalf("%s: %s", response.Status, body)
	}
	file, err := os.Create("${name}")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(file, response.Body); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}`;

/** Go's standard library. */
export const go: Sample<RestCall> = {
  id: "go",
  label: "Go",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer "+os.Getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    const { file } = call.operation;
    return `package main

import (
${file === undefined ? '\t"fmt"\n' : ""}	"io"
	"log"
	"net/http"${key === null || file !== undefined ? '\n\t"os"' : ""}
)

func main() {
	request, err := http.NewRequest("${call.operation.method}", "${urlOf(call)}", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", ${bearer})
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
${file === undefined ? PRINTED : savedAs(file.name)}
}`;
  },
};
