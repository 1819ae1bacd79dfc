/** Limits of both ends of the gRPC connections; collector.proto documents them. */

/** Maximum bytes of any message in either direction. */
export const messageBytesMax = 256 * 1024
/** Maximum bars in one `Bars` message, over all its series. */
export const batchBarsMax = 5_000
/** Maximum milliseconds that a revision may be ahead of ingest: later ones would outrank correct ones. */
export const revisionAheadMs = 5_000
/** Maximum symbols in one catalogue, over all its parts. */
export const catalogueSymbolsMax = 10_000
/** Maximum characters of all texts in one catalogue: more than so many valid symbols can have. */
export const catalogueCharactersMax = 460 * catalogueSymbolsMax
/** Maximum symbols of one feed, hidden ones included; more are refused, except from a manifest. */
export const feedSymbolsMax = 20_000
export const streamsPerConnectionMax = 16
/** Maximum connections of one ingest, with and without a credential; see `listen`. */
export const ingestConnectionsMax = 2_000
/** Maximum connections to `fxd.v1.Shard` of one shard, which the operator calls; see `listen`. */
export const shardConnectionsMax = 100

/** Interval and timeout of pings. A silent peer is detected after their sum, so a standby takes over within 15 s. */
const keepaliveMs = 5_000
const keepaliveTimeoutMs = 5_000

/** Maximum time of a TLS handshake; then the connection is closed, because it counts towards the maximum. */
export const handshakeTimeoutMs = 5_000

/**
 * Maximum idle milliseconds of a connection without a call. The close may take twice as long, because grpc-js
 * waits once more if its timer fires a millisecond early.
 */
export const idleMs = 10_000

export const heartbeatMs = 5_000

/** Maximum estimated bytes of one part of a long message; larger parts might exceed `messageBytesMax`. */
export const partBytesMax = 128 * 1024

export const channelOptions = {
  'grpc.max_receive_message_length': messageBytesMax,
  'grpc.max_send_message_length': messageBytesMax,
  'grpc.keepalive_time_ms': keepaliveMs,
  'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  // The http_proxy of a machine is for the internet, not for connections to this service.
  'grpc.enable_http_proxy': 0,
} as const

export const serverOptions = {
  ...channelOptions,
  'grpc.max_concurrent_streams': streamsPerConnectionMax,
  'grpc.max_connection_idle_ms': idleMs,
} as const
