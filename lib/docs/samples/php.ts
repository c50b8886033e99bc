import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

const PRINTED = `$answer = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
if ($answer['code'] !== 0) {
    throw new RuntimeException($answer['message'] . ': ' . $answer['data']['detail']);
}
echo json_encode($answer['data']), PHP_EOL;`;

const savedAs = (name: string) => `if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) !== 200) {
    throw new RuntimeException($body);
}
file_put_contents('${name}', $body);`;

/** PHP 8 with its curl extension. */
export const php: Sample<RestCall> = {
  id: "php",
  label: "PHP",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `'Authorization: Bearer ' . getenv('${KEY_VARIABLE}')` : `'Authorization: Bearer ${key}'`;
    const method = call.operation.method === "GET" ? "" : `\n    CURLOPT_CUSTOMREQUEST => '${call.operation.method}',`;
    const { file } = call.operation;
    return `<?php

$curl = curl_init('${urlOf(call)}');
curl_setopt_array($curl, [${method}
    CURLOPT_HTTPHEADER => [${bearer}],
    CURLOPT_RETURNTRANSFER => true,
]);
$body = curl_exec($curl);
if ($body === false) {
    throw new RuntimeException(curl_error($curl));
}
${file === undefined ? PRINTED : savedAs(file.name)}`;
  },
};
