/** What both ends of the wire hold each other to; the words are in collector.proto. */

/** Of any message, either way. */
export const messageBytesMax = 256 * 1024
/** Bars in one `Bars` message, over all its series. */
export const batchBarsMax = 5_000
/** Symbols in one catalogue, over all its parts. */
export const catalogueSymbolsMax = 10_000
/** Calls at once over one connection. */
export const streamsPerConnectionMax = 16
/** Connections of one ingest: collectors, commands, and whoever shows no credential yet; more are dropped. */
export const ingestConnectionsMax = 2_000
/** Connections of one shard's `fxd.v1.Shard`, which an operator asks; more are dropped. */
export const shardConnectionsMax = 100

/** A peer that ended without notice is found after both together: a standby takes over within 15 s. */
const keepaliveMs = 5_000
const keepaliveTimeoutMs = 5_000

/** A connection that has not finished its TLS handshake by then is closed: it would hold a place of the bound. */
export const handshakeTimeoutMs = 5_000

/**
 * A connection without a call is closed after this time, at most after twice as long: grpc-js looks at the clock
 * when its timer fires, and waits once more where the clock shows a millisecond less. Who has no key has no call.
 */
export const idleMs = 10_000

export const heartbeatMs = 5_000

/** Longer parts of a long message would not be sure to fit; counted in bytes of text and numbers, roughly. */
export const partBytesMax = 128 * 1024

/** Of both ends. */
export const channelOptions = {
  'grpc.max_receive_message_length': messageBytesMax,
  'grpc.max_send_message_length': messageBytesMax,
  'grpc.keepalive_time_ms': keepaliveMs,
  'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  // An http_proxy of the machine is for its way to the world, not for the way to this service.
  'grpc.enable_http_proxy': 0,
} as const

export const serverOptions = {
  ...channelOptions,
  'grpc.max_concurrent_streams': streamsPerConnectionMax,
  'grpc.max_connection_idle_ms': idleMs,
} as const
