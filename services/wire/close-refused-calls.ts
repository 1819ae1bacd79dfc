import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'

const channel = 'http2.server.stream.start'

/**
 * Closes each call to this port whose whole answer is a status, also when its client never ends its request. The
 * gRPC library keeps such a call open, with all headers of its request: 1 MiB for the calls of one connection.
 * Returns the function that stops it.
 */
export function closeRefusedCalls(port: number): () => void {
  const began: ChannelListener = (message) => {
    const { stream } = message as { readonly stream: ServerHttp2Stream }
    if (stream.session?.socket.localPort !== port) return
    stream.once('finish', () => {
      if (stream.sentHeaders?.['grpc-status'] !== undefined) stream.close()
    })
  }
  subscribe(channel, began)
  return () => void unsubscribe(channel, began)
}
