import { expect, test } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../../platform/log/log.ts'
import { type Leases, leaseMs, leaseRenewMs } from '../../ports/lease.ts'
import { embeddedLeases } from '../../stores/embedded/leases.ts'
import { channelOptions } from '../../wire/limits.ts'
import { lead } from './lead.ts'

/** What the design promises. */
const takeoverMs = 15_000
/** The promise less what a connection is made in, and the first pause before it is made again. */
const grantedWithinMs = 11_000
const brokenWithinMs = 10_000

const never = new AbortController().signal
const ignore = (): void => undefined

function contend(leases: Leases, holder: string, clock: VirtualClock, signal = never) {
  const told = { onWait: ignore, onTaken: ignore, onSilence: ignore, onLost: ignore }
  return lead({ leases, name: 'feed', holder, clock, log: silentLog, signal, ...told })
}

/** How long the standby waits for a leader that falls silent without a word after `silentAtMs`. */
async function takeover(silentAtMs: number, standbyAtMs: number): Promise<number> {
  const clock = createVirtualClock()
  const leases = embeddedLeases(1, clock)
  let isSilent = false
  const ofLeader: Leases = {
    ...leases,
    renew: (name, holder) => (isSilent ? new Promise(() => undefined) : leases.renew(name, holder)),
  }
  await contend(ofLeader, 'leader', clock).granted
  await clock.advance(standbyAtMs)
  let grantedMs: number | undefined
  const ended = new AbortController()
  contend(leases, 'standby', clock, ended.signal)
    .granted.then(() => {
      grantedMs = clock.monotonicMs()
    })
    .catch(ignore)
  await clock.advance(silentAtMs - standbyAtMs)
  isSilent = true
  for (let waited = 0; grantedMs === undefined && waited < 2 * takeoverMs; waited += 50)
    await clock.advance(50)
  ended.abort()
  return (grantedMs ?? Number.POSITIVE_INFINITY) - silentAtMs
}

test('a standby is granted what a silent leader held within eleven seconds, whenever the silence begins', async () => {
  const took: number[] = []
  // Over one period of renewals, and at every moment between two questions of the standby.
  for (let silentMs = 2 * leaseRenewMs; silentMs <= 3 * leaseRenewMs; silentMs += 250) {
    for (const standbyMs of [0, 50, 350, 650, 950]) took.push(await takeover(silentMs, standbyMs))
  }
  expect(Math.max(...took)).toBeLessThanOrEqual(grantedWithinMs)
  // It was really the lapse that was waited for.
  expect(Math.min(...took)).toBeGreaterThanOrEqual(leaseMs - leaseRenewMs)
})

test('a dead connection and the question after it together take less than the promised fifteen seconds', () => {
  const brokenMs = channelOptions['grpc.keepalive_time_ms'] + channelOptions['grpc.keepalive_timeout_ms']
  expect(brokenMs).toBeLessThanOrEqual(brokenWithinMs)
  // The session ends, its lease is released, and the standby asks at most a second later.
  expect(brokenMs + (grantedWithinMs - leaseMs)).toBeLessThan(takeoverMs)
  // A lone collector whose ingest died: noticed, a first pause of 500 ms, and by then the lease has lapsed.
  expect(Math.max(brokenMs + 500, leaseMs) + (grantedWithinMs - leaseMs)).toBeLessThan(takeoverMs)
})
