import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeTextOf } from "./call";

/** Java 17 and later with nothing installed; a message can arrive in parts, and pings are answered. */
export const javaStream: Sample<StreamCall> = {
  id: "java",
  label: "Java",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + System.getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    // Java reads \u before anything else, even in a text block.
    const subscribe = subscribeTextOf(call).replaceAll("\\", "\\\\");
    return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

public class Main {
    public static void main(String[] args) {
        CompletableFuture<String> closed = new CompletableFuture<>();
        WebSocket.Listener printer = new WebSocket.Listener() {
            private final StringBuilder message = new StringBuilder();

            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
                message.append(part);
                if (last) {
                    System.out.println(message);
                    message.setLength(0);
                }
                socket.request(1);
                return null;
            }

            @Override
            public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
                closed.complete("closed " + code + " " + reason);
                return null;
            }

            @Override
            public void onError(WebSocket socket, Throwable error) {
                closed.completeExceptionally(error);
            }
        };
        String subscribe = """
            ${subscribe}""";
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .header("Authorization", ${bearer})
            .buildAsync(URI.create("${streamUrlOf(call)}"), printer)
            .join()
            .sendText(subscribe, true);
        System.err.println(closed.join());
    }
}`;
  },
};
