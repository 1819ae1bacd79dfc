import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import type { FeedStatus } from './kinds.ts'

/** A condition of an object's status; it has the same form in all kinds. */
export type Condition = NonNullable<FeedStatus['conditions']>[number]

const messageLengthMax = 4_096

/** A time as Kubernetes writes it, in whole seconds, from UTC milliseconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

/** A time as Kubernetes writes it in Leases and Events, in microseconds. */
export const microTimeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`

/** UTC milliseconds of a time of Kubernetes; 0 when it is not a time. */
export const timeOf = (text: string | undefined): number => new Date(text ?? '').getTime() || 0

export interface Outcome {
  readonly status: Condition['status']
  readonly reason: string
  readonly message: string
}

export const outcome = (status: Outcome['status'], reason: string, message: string): Outcome => ({
  status,
  reason,
  message,
})

/** What a condition is about: a generation of an object, with the conditions that it had. */
export interface About {
  readonly generation: number
  readonly had: readonly Condition[] | undefined
  readonly nowMs: UtcMs
}

/** The new condition. Its transition time changes only with its status. */
export function conditionOf(
  type: string,
  { status, reason, message }: Outcome,
  { generation, had, nowMs }: About,
): Condition {
  const last = had?.find((each) => each.type === type)
  return {
    type,
    status,
    observedGeneration: generation,
    reason,
    message: message.slice(0, messageLengthMax),
    lastTransitionTime: last?.status === status ? last.lastTransitionTime : timeText(nowMs),
  }
}

export const readyOf = (conditions: readonly Condition[] | undefined): Condition | undefined =>
  conditions?.find(({ type }) => type === 'Ready')

/** The condition of all objects of a kind while removals of that kind are held; else none. */
export const heldConditions = (held: number, kind: string, about: About): readonly Condition[] => {
  if (held === 0) return []
  const message = `${held} ${kind} in the registry have no object and were kept. The Event of the Lease says how to remove them.`
  return [conditionOf('DeletionHeld', outcome('True', 'TooManyAtOnce', message), about)]
}
