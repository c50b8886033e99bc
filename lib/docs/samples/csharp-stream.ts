import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeTextOf } from "./call";

/** C# 11 (.NET 7) and later with nothing installed; a message can arrive in parts, and pings are answered. */
export const csharpStream: Sample<StreamCall> = {
  id: "csharp",
  label: "C#",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + Environment.GetEnvironmentVariable("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    return `using System.Net.WebSockets;
using System.Text;

using var socket = new ClientWebSocket();
socket.Options.SetRequestHeader("Authorization", ${bearer});
await socket.ConnectAsync(new Uri("${streamUrlOf(call)}"), CancellationToken.None);

var subscribe = """${subscribeTextOf(call)}""";
var bytes = new ArraySegment<byte>(Encoding.UTF8.GetBytes(subscribe));
await socket.SendAsync(bytes, WebSocketMessageType.Text, true, CancellationToken.None);

var buffer = new byte[16384];
using var message = new MemoryStream();
while (true)
{
    var part = await socket.ReceiveAsync(new ArraySegment<byte>(buffer), CancellationToken.None);
    if (part.MessageType == WebSocketMessageType.Close) break;
    message.Write(buffer, 0, part.Count);
    if (!part.EndOfMessage) continue;
    Console.WriteLine(Encoding.UTF8.GetString(message.ToArray()));
    message.SetLength(0);
}
Console.Error.WriteLine($"closed {(int?)socket.CloseStatus} {socket.CloseStatusDescription}");`;
  },
};
