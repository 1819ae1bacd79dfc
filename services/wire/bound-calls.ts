import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'

const channel = 'http2.server.stream.start'
const encodingHeader = 'grpc-encoding'

/**
 * Bounds the memory of calls to this port where the gRPC library has no option. Returns the function that stops it.
 *
 * - If the whole answer of a call is a status, the call is closed, even if its client never ends its request. The
 *   library keeps such a call open, with all headers of its request: 1 MiB for the calls of one connection.
 * - A compressed message is refused with UNIMPLEMENTED. The library decompresses all messages of a frame before it
 *   processes the first, and 350 bytes may become 256 KiB. So it gets the name of an encoding that it does not know.
 */
export function boundCalls(port: number): () => void {
  const began: ChannelListener = (message) => {
    const { stream, headers } = message as {
      readonly stream: ServerHttp2Stream
      readonly headers: IncomingHttpHeaders
    }
    if (stream.session?.socket.localPort !== port) return
    stream.once('finish', () => {
      if (stream.sentHeaders?.['grpc-status'] !== undefined) stream.close()
    })
    const encoding = headers[encodingHeader]
    if (encoding !== undefined) headers[encodingHeader] = `${String(encoding)}: no message may be compressed`
  }
  subscribe(channel, began)
  return () => void unsubscribe(channel, began)
}
