import type { Day } from '../../core/usage.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Slots, slotLeaseMs } from '../../ports/slots.ts'
import { type DailyUsage, utcDay } from './memory/daily-usage.ts'

interface Slot {
  /** On the monotonic clock: a machine that slept or a clock that was set must not free slots in use. */
  lapsesAtMs: number
  /** The last UTC day on which the session was counted. */
  countedOn: Day
}

/** Slots live as long as the process, like the sockets they stand for. */
export function embeddedSlots(usage: DailyUsage, clock: Clock): Slots {
  const keys = new Map<string, Map<string, Slot>>()
  const sessionsOf = (keyId: string): Map<string, Slot> => {
    const sessions = keys.get(keyId) ?? new Map<string, Slot>()
    for (const [id, { lapsesAtMs }] of sessions) if (lapsesAtMs <= clock.monotonicMs()) sessions.delete(id)
    if (sessions.size === 0) keys.delete(keyId)
    return sessions
  }
  const renewSlot = (keyId: string, slot: Slot): void => {
    slot.lapsesAtMs = clock.monotonicMs() + slotLeaseMs
    const today = utcDay(clock)
    if (today <= slot.countedOn) return
    slot.countedOn = today
    usage.add(keyId, 'ws_session')
  }

  return {
    async open(keyId, sessionId, cap) {
      const sessions = sessionsOf(keyId)
      const held = sessions.get(sessionId)
      if (held) renewSlot(keyId, held)
      else if (sessions.size >= cap) return { outcome: 'full', inUse: sessions.size }
      else {
        const lapsesAtMs = clock.monotonicMs() + slotLeaseMs
        keys.set(keyId, sessions.set(sessionId, { lapsesAtMs, countedOn: utcDay(clock) }))
        usage.add(keyId, 'ws_connect', 'ws_session')
      }
      return { outcome: 'open', inUse: sessions.size }
    },
    async renew(renewed) {
      for (const { keyId, sessionId } of renewed) {
        const slot = keys.get(keyId)?.get(sessionId)
        if (slot && slot.lapsesAtMs > clock.monotonicMs()) renewSlot(keyId, slot)
      }
    },
    async close(keyId, sessionId) {
      const sessions = sessionsOf(keyId)
      sessions.delete(sessionId)
      if (sessions.size === 0) keys.delete(keyId)
    },
    inUse: async (keyId) => sessionsOf(keyId).size,
  }
}
