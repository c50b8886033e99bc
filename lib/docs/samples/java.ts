import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

const FILE_IMPORTS = `
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;`;
const savedAs = (name: string) => `Files.copy(response.body(), Path.of("${name}"), StandardCopyOption.REPLACE_EXISTING);`;

/** Java 11 and later; `java Main.java` runs it unchanged. */
export const java: Sample<RestCall> = {
  id: "java",
  label: "Java",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + System.getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    const method = call.operation.method === "GET" ? "GET()" : `${call.operation.method}(HttpRequest.BodyPublishers.noBody())`;
    const { file } = call.operation;
    const answer = file === undefined ? "String" : "InputStream";
    return `${file === undefined ? "" : "import java.io.InputStream;\n"}import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;${file === undefined ? "" : FILE_IMPORTS}

public class Main {
    public static void main(String[] args) throws Exception {
        HttpRequest request = HttpRequest.newBuilder()
            .uri(URI.create("${urlOf(call)}"))
            .header("Authorization", ${bearer})
            .${method}
            .build();
        HttpResponse<${answer}> response = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.of${answer}());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(${file === undefined ? "response.body()" : "new String(response.body().readAllBytes())"});
        }
        ${file === undefined ? "System.out.println(response.body());" : savedAs(file.name)}
    }
}`;
  },
};
