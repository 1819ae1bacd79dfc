import type { Address } from '../platform/config.ts'
import { listenFailure } from '../platform/listen.ts'
import type { ProcessContext } from '../platform/process/process-context.ts'
import type { ConnectionCounts } from '../wire/listen.ts'

export function grpcConnections({
  metrics,
  handles,
}: Pick<ProcessContext, 'metrics' | 'handles'>): ConnectionCounts {
  const open = metrics.gauge('fxd_grpc_connections', 'Open connections to the gRPC port.')
  const dropped = metrics.counter(
    'fxd_grpc_dropped_connections_total',
    'Connections to the gRPC port closed above the maximum: 2,000 of an ingest, 100 of a shard, or fewer with a low limit of file handles.',
  )
  return {
    opened: () => open.inc(),
    closed: () => open.dec(),
    dropped: () => dropped.inc(),
    acceptFailed: (cause) => handles.failed('grpc', cause),
  }
}

/** Converts the cause why gRPC cannot listen to an error that names the variable. */
export const grpcListenFailure =
  (address: Address) =>
  (cause: unknown): never => {
    throw listenFailure(address, 'FXD_GRPC_ADDR', cause)
  }
