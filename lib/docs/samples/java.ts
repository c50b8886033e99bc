import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Java 11 and later; `java Main.java` runs it unchanged. */
export const java: Sample<RestCall> = {
  id: "java",
  label: "Java",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + System.getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    const method = call.operation.method === "GET" ? "GET()" : `${call.operation.method}(HttpRequest.BodyPublishers.noBody())`;
    return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Main {
    public static void main(String[] args) throws Exception {
        HttpRequest request = HttpRequest.newBuilder()
            .uri(URI.create("${urlOf(call)}"))
            .header("Authorization", ${bearer})
            .${method}
            .build();
        HttpResponse<String> response = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(response.body());
        }
        System.out.println(response.body());
    }
}`;
  },
};
