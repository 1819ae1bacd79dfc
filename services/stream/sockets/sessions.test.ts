import { describe, expect, test } from 'vitest'
import { openStreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { createLog, silentLog } from '../../platform/log/log.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { type Slots, slotLeaseMs } from '../../ports/slots.ts'
import { createStreamMetrics } from '../metrics.ts'
import { Sessions } from './sessions.ts'

/** Slots that a test can make unavailable. */
function leaving(slots: Slots) {
  const reach = { isUnavailable: false, closes: 0 }
  const asked = <A extends unknown[], R>(call: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    reach.isUnavailable ? Promise.reject(new Unavailable('slots')) : call(...args)
  return {
    reach,
    slots: {
      open: (...args) => asked(slots.open, ...args),
      renew: (...args) => asked(slots.renew, ...args),
      close(...args) {
        reach.closes += 1
        return asked(slots.close, ...args)
      },
      inUse: slots.inUse,
    } satisfies Slots,
  }
}

const metricsOf = () =>
  createStreamMetrics(createMetrics({ ofProcess: false }), {
    connections: () => 0,
    subscriptions: () => 0,
    backlogBytes: () => 0,
    replays: () => ({ waiting: 0, waitingForNextBar: 0 }),
    draining: () => false,
  })

describe('the slot of a socket that was closed while slots were unavailable', () => {
  test('is free a second after they are available, and the client can connect again', async () => {
    const limits = { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 }
    let reach = { isUnavailable: false, closes: 0 }
    const own = await openStreamFixture({
      change({ slots }) {
        const left = leaving(slots)
        reach = left.reach
        return { slots: left.slots }
      },
    })
    const key = await own.issue({ limits })
    const socket = await own.connect(key.secret)
    reach.isUnavailable = true
    await socket.close()
    await own.clock.advance(5_000)
    expect(await key.inUse()).toBe(1)
    reach.isUnavailable = false
    await own.clock.advance(1_000)
    expect(await key.inUse()).toBe(0)
    await (await own.connect(key.secret)).close()
    // No retry is left.
    const { closes } = reach
    await own.clock.advance(5_000)
    expect(reach.closes).toBe(closes)
    await own.close()
  })

  test('is freed before others are renewed, and not retried after it lapsed', async () => {
    const clock = createVirtualClock()
    const calls: string[] = []
    let isUnavailable = true
    const call = (name: string): Promise<never[]> => {
      calls.push(name)
      return isUnavailable ? Promise.reject(new Unavailable('slots')) : Promise.resolve([])
    }
    const slots: Slots = {
      open: async () => ({ outcome: 'open', inUse: 1 }),
      renew: () => call('renew'),
      close: async (_, session) => void (await call(`close ${session}`)),
      inUse: async () => 0,
    }
    const sessions = new Sessions({ slots, clock, log: silentLog, metrics: metricsOf() })
    for (const session of ['stays', 'a', 'b']) await sessions.open('key', session, 3)
    await Promise.all(['a', 'b'].map((session) => sessions.close(session)))
    calls.length = 0
    await clock.advance(2_000)
    // One failed call shows that slots are still unavailable; the second is not made.
    expect(calls).toEqual(['close a', 'renew', 'close a', 'renew'])
    calls.length = 0
    isUnavailable = false
    await clock.advance(1_000)
    expect(calls).toEqual(['close a', 'close b', 'renew'])
    isUnavailable = true
    await sessions.close('stays')
    await clock.advance(slotLeaseMs)
    calls.length = 0
    isUnavailable = false
    await clock.advance(slotLeaseMs)
    expect(calls).toEqual([])
    sessions.stop()
  })
})

test('many refused upgrades while slots are unavailable do not displace the slot of a closed socket', async () => {
  const clock = createVirtualClock()
  let isUnavailable = false
  const closed: string[] = []
  const slots: Slots = {
    open: async () => {
      if (isUnavailable) throw new Unavailable('slots')
      return { outcome: 'open', inUse: 1 }
    },
    renew: () => Promise.resolve([]),
    close: async (_, session) => {
      if (isUnavailable) throw new Unavailable('slots')
      closed.push(session)
    },
    inUse: async () => 0,
  }
  const sessions = new Sessions({ slots, clock, log: silentLog, metrics: metricsOf() })
  await sessions.open('key', 'was open', 1)
  isUnavailable = true
  await sessions.close('was open')
  for (let i = 0; i < 12_000; i++) await sessions.open('key', `crowd ${i}`, 1).catch(() => undefined)
  isUnavailable = false
  await clock.advance(1_000)
  expect(closed[0]).toBe('was open')
  expect(closed.length).toBeLessThan(10_000)
  sessions.stop()
})

interface LogLine {
  readonly call: string
  readonly msg: string
  readonly seconds?: number
}

test('an outage of the slots is logged once per kind of call when it begins and when it ends, and the next outage again', async () => {
  const clock = createVirtualClock()
  let logged: LogLine[] = []
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line) as LogLine) })
  const stores = await openStreamFixture()
  const { reach, slots } = leaving(stores.stores.slots)
  const sessions = new Sessions({ slots, clock, log, metrics: metricsOf() })
  const calls = (lines: readonly LogLine[]) => lines.map(({ call }) => call).toSorted()
  const outage = async (): Promise<void> => {
    logged = []
    reach.isUnavailable = true
    for (let i = 0; i < 20; i++) await sessions.open('key', `refused ${i}`, 2).catch(() => undefined)
    await clock.advance(30_000)
    reach.isUnavailable = false
    await clock.advance(2_000)
    await sessions.open('key', 'later', 2)
    const [begins, ends] = [logged.slice(0, 3), logged.slice(3)]
    expect(new Set(begins.map(({ msg }) => msg))).toEqual(
      new Set(['slots unavailable; new sockets get 503; open sockets stay']),
    )
    expect(calls(begins)).toEqual(['close', 'open', 'renew'])
    expect(new Set(ends.map(({ msg }) => msg))).toEqual(new Set(['slots available again']))
    expect(calls(ends)).toEqual(['close', 'open', 'renew'])
    expect(ends.find(({ call }) => call === 'open')?.seconds).toBe(32)
  }
  await sessions.open('key', 'stays', 2)
  await outage()
  await outage()
  sessions.stop()
  await stores.close()
})
