import type { Log } from '../log/log.ts'
import { handleLimit } from './handle-watch.ts'

/** Handles reserved for files, stores, collectors and threads of one process; of a low limit the half. */
const otherHandles = 500
/** Maximum connections to the operations port; above it the one that is idle longest is closed. */
const opsConnectionsMax = 1_000
/** Minimum connections of every port, however low the limit is. */
const leastConnections = 4

/** Maximum connections of the ports of one process; 0: it has no such port. */
export interface PortMaxima {
  /** Connections of requests and sockets. */
  readonly http: number
  /** Sockets of `/v1/stream` among them, so that sockets leave connections for requests. */
  readonly sockets: number
  readonly grpc: number
}

export const onlyOps: PortMaxima = { http: 0, sockets: 0, grpc: 0 }

export interface PortShares extends PortMaxima {
  readonly ops: number
}

/** The maxima of the ports, lowered to what the limit of file handles allows: no port can take another's handles. */
export function portShares(wanted: PortMaxima, limit: number): PortShares {
  const left = limit - Math.min(otherHandles, Math.ceil(limit / 2))
  const share = (max: number, handles: number): number =>
    Math.min(max, Math.max(leastConnections, Math.floor(handles)))
  const ops = share(opsConnectionsMax, wanted.http + wanted.grpc === 0 ? left : left / 10)
  const grpc = share(wanted.grpc, wanted.http === 0 ? left - ops : (left * 3) / 10)
  const http = share(wanted.http, left - ops - grpc)
  const sockets = http === wanted.http ? wanted.sockets : Math.ceil((wanted.sockets * http) / wanted.http)
  return { http, sockets, grpc, ops }
}

/** The shares of this process; warns if they are lower than the maxima. */
export function sharePorts(wanted: PortMaxima, log: Log): PortShares {
  const limit = handleLimit()
  const shares = portShares(wanted, limit)
  const needed = wanted.http + wanted.grpc + opsConnectionsMax + otherHandles
  if (limit < needed) {
    log.warn(
      { limit, needed, ...shares },
      'low limit of file handles: the ports accept fewer connections; raise it (ulimit -n)',
    )
  }
  return shares
}
