import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeTextOf } from "./call";

/** PHP 8 with the package phrity/websocket. */
export const phpStream: Sample<StreamCall> = {
  id: "php",
  label: "PHP",
  install: "composer require phrity/websocket",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `'Bearer ' . getenv('${KEY_VARIABLE}')` : `'Bearer ${key}'`;
    return `<?php

require 'vendor/autoload.php';

$client = new WebSocket\\Client('${streamUrlOf(call)}');
$client
    ->addHeader('Authorization', ${bearer})
    ->addMiddleware(new WebSocket\\Middleware\\CloseHandler())
    ->addMiddleware(new WebSocket\\Middleware\\PingResponder())
    ->onText(function ($client, $connection, $message) {
        echo $message->getContent(), PHP_EOL;
    })
    ->onClose(function ($client, $connection, $message) {
        fprintf(STDERR, 'closed %d %s' . PHP_EOL, $message->getCloseStatus(), $message->getContent());
    });
$client->text('${subscribeTextOf(call)}');
$client->start();`;
  },
};
