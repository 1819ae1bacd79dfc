import { faultPlace } from '../core/fault-place.ts'
import type { Log } from '../platform/log/log.ts'
import type { faultPlaces, StreamMetrics } from './metrics.ts'

/** A defect was met in something that a client or the operator asked for; that alone ends. */
export type OnFault = (place: (typeof faultPlaces)[number], cause: unknown, session?: string) => void

/** Logs and counts each defect, with nothing of what was asked. */
export const createOnFault =
  (log: Log, { faults }: Pick<StreamMetrics, 'faults'>): OnFault =>
  (place, cause, session) => {
    faults.inc({ place })
    log.error(
      { place, session, ...faultPlace(cause) },
      'failed: a defect in a handler; what it served is ended',
    )
  }
