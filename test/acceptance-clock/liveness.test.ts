import { readFileSync } from 'node:fs'
import { credentials, Metadata } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Collector } from '../../services/wire/load.ts'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { read } from '../acceptance/client/http.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { target } from '../acceptance/client/target.ts'
import { ClockedService } from './clocked-service.ts'

const noon = Date.UTC(2026, 0, 5, 12)

interface Status {
  status: string
  feeds: Record<string, Record<string, unknown>>
}
let service: ClockedService
let key = ''
beforeEach(async () => {
  service = await ClockedService.start(noon)
  key = (await issueKey()).key
})
afterEach(() => service.end())

const status = (secret = key) => read<Status>('/v1/status', secret)
const feed = async (name: string) => (await status()).feeds[name] ?? {}

async function expectThresholds(
  name: string,
  age: 'last_candle_age_seconds' | 'last_heartbeat_age_seconds',
): Promise<void> {
  for (const [seconds, state] of [
    [299, 'live'],
    [300, 'stale'],
    [1800, 'stale'],
    [1801, 'offline'],
  ] as const) {
    await service.pass(seconds - Number((await feed(name))[age]))
    expect(await feed(name)).toMatchObject({ status: state, [age]: seconds })
  }
}

/** A collector that sends only heartbeats. */
const heartbeatsOf = (name: string) => {
  const token = readFileSync(target().token, 'utf8').trim()
  const client = new Collector(target().grpc, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const session = client.session(metadata)
  session.on('data', () => undefined)
  session.on('error', () => undefined)
  session.write({ hello: { feed: name, collectorId: 'beats', mode: 'SESSION_MODE_LIVE' } })
  return {
    connected: (terminalConnected: boolean) => session.write({ heartbeat: { terminalConnected } }),
    end() {
      session.cancel()
      client.close()
    },
  }
}

test('a feed is live below 300 seconds after its last bar, stale up to 1800, then offline', async () => {
  const symbol = 'BROKERB:LIVE:UK100'
  const bars = minutes(noon / 1000 - 1200, 4, 8000, 1)
  const file = new FollowedFile('brokerb-live', 'UK100_M1.csv')
  const stored = async () => barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10 })).length
  file.write(bars.slice(0, 3))
  await service.eventually('the first bars', async () => (await stored()) === 3)
  file.append(bars[3] as Bar)
  await service.eventually('the live bar', async () => (await stored()) === 4)
  expect(await feed('BROKERB:LIVE')).toMatchObject({ status: 'live', liveness_source: 'candle' })
  await expectThresholds('BROKERB:LIVE', 'last_candle_age_seconds')
})

test('a heartbeat takes precedence over the candle, with the same thresholds', async () => {
  const collector = heartbeatsOf('BROKERE:LIVE')
  collector.connected(true)
  await service.eventually(
    'the heartbeat',
    async () => (await feed('BROKERE:LIVE'))['liveness_source'] === 'heartbeat',
  )
  collector.connected(false)
  await expectThresholds('BROKERE:LIVE', 'last_heartbeat_age_seconds')
  collector.connected(true)
  await service.eventually(
    'the next heartbeat',
    async () => (await feed('BROKERE:LIVE'))['status'] === 'live',
  )
  collector.end()
})

test('a granted feed whose heartbeats stopped degrades the platform, one that is not granted does not', async () => {
  const other = (await issueKey({ feeds: ['BROKERG:SIM', 'BROKERD:LIVE'] })).key
  const collector = heartbeatsOf('BROKERE:LIVE')
  collector.connected(true)
  await service.eventually(
    'the heartbeat',
    async () => (await feed('BROKERE:LIVE'))['liveness_source'] === 'heartbeat',
  )
  expect((await status()).status).toBe('ok')
  await service.pass(1802)
  expect((await status()).status).toBe('degraded')
  expect((await status(other)).status).toBe('ok')
  collector.end()
})
