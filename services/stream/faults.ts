import { faultPlace } from '../core/fault-place.ts'
import type { Log } from '../platform/log/log.ts'
import type { faultPlaces, StreamMetrics } from './metrics.ts'

/** Reports a defect in the handling of a client or an operator call; only that handling ends. */
export type OnFault = (place: (typeof faultPlaces)[number], cause: unknown, session?: string) => void

/** Logs and counts each defect; the log contains nothing of the request. */
export const createOnFault =
  (log: Log, { faults }: Pick<StreamMetrics, 'faults'>): OnFault =>
  (place, cause, session) => {
    faults.inc({ place })
    log.error(
      { place, session, ...faultPlace(cause) },
      'defect in fxd: one socket, upgrade request or call was ended; others continue',
    )
  }
