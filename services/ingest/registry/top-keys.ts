import { dateText } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import { Unfinished } from '../../core/failure.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { DailyCounters } from '../../core/keys/usage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Limits } from '../../ports/limits.ts'
import type { Slots } from '../../ports/slots.ts'
import type { KeyUse } from '../../wire/gen/fxd/v1/KeyUse.ts'
import { invalid } from './refusal.ts'

/** Maximum keys of an answer: so many fit a message. */
const limitMax = 200
const keysAtOnce = 256
/** Deadline of the counters of all keys: shorter than that of the command line, which gets a sentence. */
const readMs = 30_000

export interface TopKeysDeps {
  readonly limits: Pick<Limits, 'usage'>
  readonly slots: Pick<Slots, 'inUse'>
  readonly clock: Clock
}

interface Used {
  readonly key: KeyRecord
  readonly counters: DailyCounters
}

/** The keys with most requests on this UTC day. Rejects if one counter cannot be read: an answer is never partial. */
export async function topKeys(
  limit: number,
  keys: readonly KeyRecord[],
  deps: TopKeysDeps,
): Promise<KeyUse[]> {
  if (limit < 1 || limit > limitMax) throw invalid(`limit: got ${limit}, wanted 1 to ${limitMax}`)
  const used = await usedToday(keys, deps)
  const top = used.sort(mostUsedFirst).slice(0, limit)
  return Promise.all(
    top.map(async ({ key, counters }) => ({
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      plan: key.plan,
      requests: counters.requests,
      rateLimited: counters.rate_limited,
      sockets: await deps.slots.inUse(key.id),
      socketsMax: key.limits.wsConnections,
    })),
  )
}

async function usedToday(keys: readonly KeyRecord[], { limits, clock }: TopKeysDeps): Promise<Used[]> {
  const endMs = clock.monotonicMs() + readMs
  const today = dateText(toSeconds(clock.utcMs()))
  const used: Used[] = []
  for (let i = 0; i < keys.length; i += keysAtOnce) {
    if (clock.monotonicMs() > endMs)
      throw new Unfinished('usage', `The usage of ${keys.length} keys was not read within 30 s; try again.`)
    const some = keys.slice(i, i + keysAtOnce)
    const days = await Promise.all(some.map(({ id }) => limits.usage(id, today, today)))
    some.forEach((key, each) => {
      const counters = days[each]?.get(today)
      if (counters) used.push({ key, counters })
    })
  }
  return used
}

const mostUsedFirst = (a: Used, b: Used): number =>
  b.counters.requests - a.counters.requests ||
  b.counters.ws_session - a.counters.ws_session ||
  b.counters.rate_limited - a.counters.rate_limited
