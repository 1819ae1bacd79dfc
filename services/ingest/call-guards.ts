import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'
import { ResponderBuilder, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'

const channel = 'http2.server.stream.start'

/**
 * Tells with which status each call to this port ended. What the gRPC library refuses by itself (a message
 * too long, bytes that do not decompress, an unknown method) reaches no interceptor: Node's own channel shows it.
 */
export function countCalls(port: number, ended: (code: string) => void): () => void {
  const began: ChannelListener = (message) => {
    const { stream } = message as { readonly stream: ServerHttp2Stream }
    if (stream.session?.socket.localPort === port) stream.once('close', () => ended(codeOf(stream)))
  }
  subscribe(channel, began)
  return () => void unsubscribe(channel, began)
}

/** Without a status the peer went away, or did not speak gRPC at all. */
function codeOf({ sentTrailers, sentHeaders }: ServerHttp2Stream): string {
  const sent = sentTrailers?.['grpc-status'] ?? sentHeaders?.['grpc-status']
  if (sent !== undefined) return status[Number(sent)] ?? 'UNKNOWN'
  return sentHeaders?.[':status'] === undefined || sentHeaders[':status'] === 200 ? 'CANCELLED' : 'UNKNOWN'
}

/** Trailers are a header: longer ones are refused by many peers. */
const detailsLengthMax = 1_024

/**
 * A status may quote what a client sent, and a lone surrogate in it would throw inside the library,
 * outside of any handler.
 */
export const wellFormedStatus: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(
    call,
    new ResponderBuilder()
      .withSendStatus((sent, next) =>
        next({ ...sent, details: (sent.details ?? '').slice(0, detailsLengthMax).toWellFormed() }),
      )
      .build(),
  )
