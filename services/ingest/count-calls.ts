import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'
import { status } from '@grpc/grpc-js'

const channel = 'http2.server.stream.start'

/**
 * Calls `ended` with the status of each call to this port. The gRPC library refuses some calls itself (too long
 * messages, unknown methods, compressed messages). These reach no interceptor, so Node's diagnostics channel is used.
 * Returns the function that stops it.
 */
export function countCalls(port: number, ended: (code: string) => void): () => void {
  const began: ChannelListener = (message) => {
    const { stream } = message as { readonly stream: ServerHttp2Stream }
    if (stream.session?.socket.localPort === port) stream.once('close', () => ended(codeOf(stream)))
  }
  subscribe(channel, began)
  return () => void unsubscribe(channel, began)
}

/** The status of a stream. Without one the peer disconnected, or did not speak gRPC. */
function codeOf({ sentTrailers, sentHeaders }: ServerHttp2Stream): string {
  const sent = sentTrailers?.['grpc-status'] ?? sentHeaders?.['grpc-status']
  if (sent !== undefined) return status[Number(sent)] ?? 'UNKNOWN'
  return sentHeaders?.[':status'] === undefined || sentHeaders[':status'] === 200 ? 'CANCELLED' : 'UNKNOWN'
}
