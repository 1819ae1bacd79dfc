import { expect, test } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { feedKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import { type Leases, leaseMs, leaseRenewMs } from '../../ports/lease.ts'
import { embeddedLeases } from '../../stores/embedded/leases.ts'
import { channelOptions } from '../../wire/limits.ts'
import { lead } from './lead.ts'

const feed = feedKey('BROKERA', 'ZERO')
/** Maximum time of a takeover that the service promises. */
const takeoverMs = 15_000
/** Maximum time to the grant: the promise, less the time of a connection and of the pause before a reconnect. */
const grantedWithinMs = 11_000
const brokenWithinMs = 10_000

const never = new AbortController().signal
const ignore = (): void => undefined

function contend(leases: Leases, holder: string, clock: VirtualClock, signal = never) {
  const callbacks = { onWait: ignore, onTaken: ignore, onSilence: ignore, onLost: ignore }
  return lead({ leases, feed, holder, clock, log: silentLog, signal, ...callbacks })
}

/** Milliseconds that the standby waits for a leader that stops without notice at `silentAtMs`. */
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

test('a standby gets the lease of a silent leader within eleven seconds, whenever the silence begins', async () => {
  const took: number[] = []
  // Tries moments over one renewal interval of the leader, and one request interval of the standby.
  for (let silentMs = 2 * leaseRenewMs; silentMs <= 3 * leaseRenewMs; silentMs += 250) {
    for (const standbyMs of [0, 50, 350, 650, 950]) took.push(await takeover(silentMs, standbyMs))
  }
  expect(Math.max(...took)).toBeLessThanOrEqual(grantedWithinMs)
  // The standby did wait for the expiry of the lease.
  expect(Math.min(...took)).toBeGreaterThanOrEqual(leaseMs - leaseRenewMs)
})

test('detecting a broken connection and the next lease request together take less than fifteen seconds', () => {
  const brokenMs = channelOptions['grpc.keepalive_time_ms'] + channelOptions['grpc.keepalive_timeout_ms']
  expect(brokenMs).toBeLessThanOrEqual(brokenWithinMs)
  // The session ends, its lease is released, and the standby requests it at most a second later.
  expect(brokenMs + (grantedWithinMs - leaseMs)).toBeLessThan(takeoverMs)
  // A single collector whose ingest ended: detection, a pause of 500 ms, and by then the lease has expired.
  expect(Math.max(brokenMs + 500, leaseMs) + (grantedWithinMs - leaseMs)).toBeLessThan(takeoverMs)
})
