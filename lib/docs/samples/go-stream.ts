import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeTextOf } from "./call";

/** Go with the package gorilla/websocket, which answers pings while it reads. */
export const goStream: Sample<StreamCall> = {
  id: "go",
  label: "Go",
  install: "go get github.com/gorilla/websocket",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + os.Getenv("${KEY_VARIABLE}")` : `"Bearer ${key}"`;
    return `package main

import (
	"fmt"
	"log"
	"net/http"${key === null ? '\n\t"os"' : ""}

	"github.com/gorilla/websocket"
)

func main() {
	header := http.Header{"Authorization": {${bearer}}}
	socket, _, err := websocket.DefaultDialer.Dial("${streamUrlOf(call)}", header)
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	subscribe := \`${subscribeTextOf(call)}\`
	if err := socket.WriteMessage(websocket.TextMessage, []byte(subscribe)); err != nil {
		log.Fatal(err)
	}
	for {
		_, message, err := socket.ReadMessage()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(message))
	}
}`;
  },
};
