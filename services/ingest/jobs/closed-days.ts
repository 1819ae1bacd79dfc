import { dateText, daySeconds } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Limits } from '../../ports/limits.ts'
import type { KeyDay, UsageDays } from '../../ports/usage-days.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'

/** A day that closed is looked for so often, and a copy that failed is tried again. */
const checkEveryMs = 60_000
/** Closed days that each run copies: yesterday, and once more the day before, to which an outage may have added late. */
const daysCopied = 2
/** Keys whose counters are asked for, and stored, together. */
const keysAtOnce = 256

export interface ClosedDaysDeps {
  readonly limits: Pick<Limits, 'usage'>
  readonly usageDays: Pick<UsageDays, 'add'>
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly clock: Clock
  readonly log: Log
}

export interface ClosedDays {
  /** Resolves once nothing is being copied. */
  stop(): Promise<void>
}

/**
 * Copies what every key did on days that are over from the counters into the store: at the start, and
 * within a minute of UTC midnight. Any number of processes may do it at once, and again.
 */
export function copyClosedDays(deps: ClosedDaysDeps): ClosedDays {
  const { registry, clock, log } = deps
  /** The day on which all was copied. */
  let copiedOn: string | undefined
  const outage = new OutageLog({ log, clock })
  let isStopped = false
  let copying: Promise<void> | undefined

  const copyAll = async (): Promise<void> => {
    const today = toSeconds(clock.utcMs())
    if (copiedOn === dateText(today)) return
    const days = { first: dateText(today - daysCopied * daySeconds), last: dateText(today - daySeconds) }
    // Revoked ones too: they may have asked for much before.
    const ids = registry
      .view()
      .keys.all()
      .map(({ id }) => id)
    for (let i = 0; i < ids.length && !isStopped; i += keysAtOnce)
      await copy(ids.slice(i, i + keysAtOnce), days, deps)
    if (!isStopped) copiedOn = dateText(today)
  }
  const check = (): void => {
    copying ??= copyAll()
      .then(
        () => outage.worked('usage of closed days is copied again'),
        (cause: unknown) =>
          outage.failed({ text: 'failed to copy usage of closed days; retrying every minute', cause }),
      )
      .finally(() => {
        copying = undefined
      })
  }

  const cancel = clock.every(checkEveryMs, check)
  clock.soon(check)
  return {
    async stop() {
      isStopped = true
      cancel()
      await copying
    },
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
