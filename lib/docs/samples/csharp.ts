import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

const PRINTED = `using var response = await client.SendAsync(request);
var body = await response.Content.ReadAsStringAsync();
if (!response.IsSuccessStatusCode) throw new HttpRequestException(body);
Console.WriteLine(body);`;

const savedAs = (name: string) => `using var response = await client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
if (!response.IsSuccessStatusCode) throw new HttpRequestException(await response.Content.ReadAsStringAsync());
await using var file = File.Create("${name}");
await response.Content.CopyToAsync(file);`;

/** C# with top-level statements (.NET 6 and later). */
export const csharp: Sample<RestCall> = {
  id: "csharp",
  label: "C#",
  generate(call) {
    const key = keyOf(call);
    const token = key === null ? `Environment.GetEnvironmentVariable("${KEY_VARIABLE}")` : `"${key}"`;
    const method = call.operation.method === "GET" ? "Get" : "Post";
    const { file } = call.operation;
    return `using System.Net.Http.Headers;

using var client = new HttpClient();
using var request = new HttpRequestMessage(
    HttpMethod.${method},
    "${urlOf(call)}");
request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", ${token});

${file === undefined ? PRINTED : savedAs(file.name)}`;
  },
};
