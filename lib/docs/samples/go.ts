import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Go's standard library. */
export const go: Sample<RestCall> = {
  id: "go",
  label: "Go",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer "+os.Getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"${key === null ? '\n\t"os"' : ""}
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
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", response.Status, body)
	}
	fmt.Println(string(body))
}`;
  },
};
