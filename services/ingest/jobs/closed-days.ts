import { dateText, daySeconds } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Limits } from '../../ports/limits.ts'
import type { KeyDay, UsageDays } from '../../ports/usage-days.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'

/** Interval of checks for a closed day, and of retries after a failed copy. */
const checkEveryMs = 60_000
/** Closed days that each run copies: yesterday, and again the day before, which an outage may have changed late. */
const daysCopied = 2
const keysAtOnce = 256

export interface ClosedDaysDeps {
  readonly limits: Pick<Limits, 'usage'>
  readonly usageDays: Pick<UsageDays, 'add'>
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly clock: Clock
  readonly log: Log
}

/**
 * Copies the usage of every key on closed days from the counters into the store: at the start, and within a minute
 * of UTC midnight. Any number of processes may do it at the same time, and repeat it. Returns the function that stops
 * it, which resolves once no copy is in progress.
 */
export function copyClosedDays(deps: ClosedDaysDeps): () => Promise<void> {
  const { registry, clock, log } = deps
  /** The day on which everything was copied. */
  let copiedOn: string | undefined
  const outage = new OutageLog({ log, clock })
  let isStopped = false
  let copying: Promise<void> | undefined

  const copyAll = async (): Promise<void> => {
    const today = toSeconds(clock.utcMs())
    if (copiedOn === dateText(today)) return
    const days = { first: dateText(today - daysCopied * daySeconds), last: dateText(today - daySeconds) }
    // Revoked keys too: they may have been used before.
    const { keys } = registry.view()
    const ids = keys.all().map(({ id }) => id)
    for (let i = 0; i < ids.length && !isStopped; i += keysAtOnce)
      await copy(ids.slice(i, i + keysAtOnce), days, deps)
    if (!isStopped) copiedOn = dateText(today)
  }
  const check = (): void => {
    copying ??= copyAll()
      .then(
        () => outage.worked('usage of closed days is copied again'),
        (cause: unknown) =>
          outage.failed({ text: 'failed to copy the usage of closed days; retrying every minute', cause }),
      )
      .finally(() => {
        copying = undefined
      })
  }

  const cancel = clock.every(checkEveryMs, check)
  clock.soon(check)
  return async () => {
    isStopped = true
    cancel()
    await copying
  }
}

async function copy(
  ids: readonly string[],
  { first, last }: { readonly first: string; readonly last: string },
  { limits, usageDays }: ClosedDaysDeps,
): Promise<void> {
  const counted = await Promise.all(
    ids.map(async (keyId): Promise<readonly KeyDay[]> => {
      const days = await limits.usage(keyId, first, last)
      return [...days].map(([day, counters]) => ({ keyId, day, counters }))
    }),
  )
  const days = counted.flat()
  if (days.length > 0) await usageDays.add(days)
}
