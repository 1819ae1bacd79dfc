import { Unavailable } from '../../../core/failure.ts'
import { type Slots, slotLeaseMs } from '../../../ports/slots.ts'
import type { Keys } from '../keys.ts'
import { type Calls, serverRun, type Word } from '../link/calls.ts'
import { scripts } from '../scripts.ts'
import { dayNumber } from './day-numbers.ts'

/** How long shards may take their slots again before new ones open, after Redis was emptied, replaced or unreachable. */
export const slotHoldMs = 25_000
/** Maximum sessions renewed by one call, during which Redis runs nothing else. */
const renewedAtOnceMax = 500
/** Maximum renewals in progress: all of them must be answered within the deadline of a call. */
const renewalsAtOnceMax = 200

/** A slot is a member of its key's sorted set. It is named by the session and scored with its time of expiry. */
export function redisSlots(calls: Calls, keys: Keys, givenTime: () => string): Slots {
  const keysOf = (keyId: string): string[] => [keys.slots(keyId), keys.sessionDays(keyId), keys.usage(keyId)]
  const renewSome = async (keyId: string, ids: readonly string[]): Promise<readonly string[]> =>
    (await calls.script(
      scripts.renewSlots,
      [...keysOf(keyId), keys.slotsLife],
      [givenTime(), serverRun, slotLeaseMs, ...ids],
    )) as string[]

  return {
    async open(keyId, sessionId, cap, countedOn) {
      const counted = countedOn === undefined ? '' : dayNumber(countedOn)
      const args: Word[] = [givenTime(), serverRun, sessionId, cap, slotLeaseMs, counted, slotHoldMs]
      const reply = await calls.script(scripts.openSlot, [...keysOf(keyId), keys.slotsLife], args)
      const [opened, number] = reply as [number, number]
      if (opened === -1)
        throw new Unavailable(
          'Redis',
          new Error(`slot counts are unknown; new sockets get 503 for another ${number} ms`),
          Math.ceil(number / 1_000),
        )
      return { outcome: opened === 1 ? 'open' : 'full', inUse: number }
    },
    async renew(sessions) {
      const byKey = Map.groupBy(sessions, ({ keyId }) => keyId)
      const renewals = [...byKey].flatMap(([keyId, own]) =>
        chunks(own, renewedAtOnceMax).map((some) => ({ keyId, ids: some.map(({ sessionId }) => sessionId) })),
      )
      const lapsed = new Set<string>()
      const noteLapsed = async ({ keyId, ids }: (typeof renewals)[number]): Promise<void> => {
        for (const id of await renewSome(keyId, ids)) lapsed.add(`${keyId} ${id}`)
      }
      for (const some of chunks(renewals, renewalsAtOnceMax)) await Promise.all(some.map(noteLapsed))
      return sessions.flatMap(({ keyId, sessionId }) =>
        lapsed.has(`${keyId} ${sessionId}`) ? [sessionId] : [],
      )
    },
    async close(keyId, sessionId) {
      await calls.script(scripts.closeSlot, keysOf(keyId), [givenTime(), sessionId])
    },
    inUse: async (keyId) =>
      Number(await calls.script(scripts.countSlots, [keys.slots(keyId)], [givenTime()])),
  }
}

const chunks = <T>(all: readonly T[], sizeMax: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / sizeMax) }, (_, i) => all.slice(i * sizeMax, (i + 1) * sizeMax))
