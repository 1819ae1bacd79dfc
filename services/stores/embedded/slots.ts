import type { Day } from '../../core/keys/usage.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Slots, slotLeaseMs } from '../../ports/slots.ts'
import { type DailyUsage, utcDay } from './memory/daily-usage.ts'

interface Slot {
  /** On the monotonic clock: a suspended machine or a changed clock must not free slots in use. */
  lapsesAtMs: number
  countedOn: Day
}

/** Keeps slots in memory: they end with the process, as do the sockets that use them. */
export function embeddedSlots(usage: DailyUsage, clock: Clock): Slots {
  /** The slots of each key by session; the one that lapses first is first. */
  const keys = new Map<string, Map<string, Slot>>()
  const sessionsOf = (keyId: string): Map<string, Slot> => {
    const sessions = keys.get(keyId) ?? new Map<string, Slot>()
    for (const [id, { lapsesAtMs }] of sessions) {
      // A key may have 10,000 sockets that close at the same time.
      if (lapsesAtMs > clock.monotonicMs()) break
      sessions.delete(id)
    }
    if (sessions.size === 0) keys.delete(keyId)
    return sessions
  }
  /** Counts a session again on each further UTC day. */
  const count = (keyId: string, slot: Slot): void => {
    const today = utcDay(clock)
    if (today <= slot.countedOn) return
    slot.countedOn = today
    usage.add(keyId, 'ws_session')
  }
  const renewSlot = (keyId: string, sessions: Map<string, Slot>, id: string, slot: Slot): void => {
    slot.lapsesAtMs = clock.monotonicMs() + slotLeaseMs
    // It lapses last.
    sessions.delete(id)
    sessions.set(id, slot)
    count(keyId, slot)
  }

  return {
    async open(keyId, sessionId, cap, countedOn) {
      const sessions = sessionsOf(keyId)
      const held = sessions.get(sessionId)
      if (!held && sessions.size >= cap) return { outcome: 'full', inUse: sessions.size }
      const slot = held ?? { lapsesAtMs: 0, countedOn: countedOn ?? utcDay(clock) }
      if (!held && countedOn === undefined) usage.add(keyId, 'ws_connect', 'ws_session')
      renewSlot(keyId, sessions, sessionId, slot)
      keys.set(keyId, sessions)
      return { outcome: 'open', inUse: sessions.size }
    },
    async renew(renewed) {
      return renewed.flatMap(({ keyId, sessionId }) => {
        const sessions = keys.get(keyId)
        const slot = sessions?.get(sessionId)
        if (!sessions || !slot || slot.lapsesAtMs <= clock.monotonicMs()) return [sessionId]
        renewSlot(keyId, sessions, sessionId, slot)
        return []
      })
    },
    async close(keyId, sessionId) {
      const sessions = sessionsOf(keyId)
      const slot = sessions.get(sessionId)
      if (slot) count(keyId, slot)
      sessions.delete(sessionId)
      if (sessions.size === 0) keys.delete(keyId)
    },
    inUse: async (keyId) => sessionsOf(keyId).size,
  }
}
