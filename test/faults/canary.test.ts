import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { metricOf } from '../support/clients/metric-of.ts'
import { RawSession, seriesAt } from '../support/clients/raw-session.ts'
import { statusOf } from '../support/cluster/answers.ts'
import { Program } from '../support/cluster/program.ts'
import { freePorts } from '../support/free-ports.ts'
import { bareEnv } from '../support/processes/bare-env.ts'
import { repository } from '../support/processes/child-service.ts'
import { FxdProcess } from './support/fxd-process.ts'
import { manifest } from './support/market.ts'
import { within } from './support/within.ts'

const patienceMs = 45_000
const settleSeconds = 2
const symbols = ['EURUSD', 'GBPUSD']
const minuteSeconds = 60
const begin = Math.floor(Date.now() / 60_000) * 60 - 3_600

/** Starts a service and its canary, both real processes. */
async function startBoth(more: readonly string[] = []) {
  const service = await FxdProcess.start({ manifests: [manifest] })
  await service.takeKey()
  const [opsPort = 0] = await freePorts(1)
  const keyFile = join(service.home, 'key')
  writeFileSync(keyFile, `${service.key}\n`)
  const canary = new Program({
    name: 'canary',
    command: join(repository, 'bin/node'),
    args: [join(repository, 'services/main.ts'), 'canary'],
    env: {
      ...bareEnv(),
      FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
      FXD_CANARY_REST: service.url,
      FXD_CANARY_STREAM: service.url.replace('http', 'ws'),
      FXD_CANARY_KEY_FILE: keyFile,
      FXD_CANARY_SYMBOLS: [...symbols, ...more].map((symbol) => `BROKERA:ZERO:${symbol}`).join(','),
      FXD_CANARY_SETTLE_SECONDS: String(settleSeconds),
    },
    log: join(service.home, 'canary.log'),
    isReady: async () => (await statusOf(opsPort, '/readyz')) === 200,
  })
  onTestFinished(() => canary.kill())
  await canary.start()
  const metric = (name: string, labels?: Readonly<Record<string, string>>): Promise<number> =>
    metricOf(opsPort, `fxd_canary_${name}`, labels)
  const reaches = (name: string, least: number): Promise<void> =>
    within(patienceMs, `${name} of ${least}`, async () => (await metric(name)) >= least)
  await reaches('subscribed_symbols', symbols.length)
  return {
    service,
    canary,
    metric,
    reaches,
    /** Resolves once the canary has compared all symbols several times, so that all bars so far are judged. */
    compared: async () => {
      const requests = (): Promise<number> => metric('requests_total', { route: 'status', status: '200' })
      const before = await requests()
      await within(patienceMs, 'comparisons', async () => (await requests()) >= before + 4)
    },
  }
}

/** Series of both symbols with the minutes of these numbers after `begin`. */
const minutes = (...numbers: readonly number[]) =>
  symbols.map((symbol) =>
    seriesAt(
      symbol,
      numbers.map((each) => begin + each * minuteSeconds),
    ),
  )

async function openSession(service: FxdProcess): Promise<RawSession> {
  const session = new RawSession(service.grpc, service.token)
  await session.hello('BROKERA:ZERO', { id: 'collector-1' })
  return session
}

test('the canary counts no missed bar, also after fxd was killed and restarted', async () => {
  const { service, canary, metric, reaches, compared } = await startBoth()
  let session = await openSession(service)
  for (let minute = 0; minute < 5; minute += 1) await session.bars('LIVE', minutes(minute))
  await reaches('pushed_bars_total', 10)
  await compared()
  expect(await metric('missed_bars_total')).toBe(0)
  expect(await metric('differing_bars_total')).toBe(0)
  expect(await metric('arrival_seconds_count')).toBe(10)

  await service.kill()
  await within(patienceMs, 'the socket to end', async () => (await metric('socket_open')) === 0)
  expect(await metric('socket_ends_total', { code: '1006' })).toBe(1)
  await service.start()
  session = await openSession(service)
  // Some minutes close before the canary has reconnected, some after: all must be pushed.
  for (let minute = 5; minute < 10; minute += 1) await session.bars('LIVE', minutes(minute))
  await reaches('socket_open', 1)
  await reaches('pushed_bars_total', 20)
  await compared()
  expect(await metric('pushed_bars_total')).toBe(20)
  expect(await metric('missed_bars_total')).toBe(0)
  expect(await metric('gaps_total')).toBe(0)
  await session.close()
  expect(await canary.stop()).toBe(0)
})

test('a bar that is only in history counts as missed, a corrected bar as differing, each once', async () => {
  const { service, metric, reaches, compared } = await startBoth()
  const session = await openSession(service)
  await session.bars('LIVE', minutes(0, 1, 2))
  await session.bars('LIVE', minutes(4))
  await reaches('pushed_bars_total', 8)
  await compared()
  expect(await metric('missed_bars_total')).toBe(0)

  const late = seriesAt('EURUSD', [begin + 3 * minuteSeconds])
  const corrected = seriesAt('GBPUSD', [begin + minuteSeconds], { close: 1.2, revision: 1_000_000_000_001 })
  await session.bars('BACKFILL', [late, corrected])
  await reaches('missed_bars_total', 1)
  await reaches('differing_bars_total', 1)
  await compared()
  expect(await metric('missed_bars_total', { feed: 'BROKERA:ZERO' })).toBe(1)
  expect(await metric('differing_bars_total', { feed: 'BROKERA:ZERO' })).toBe(1)
  expect(await metric('pushed_bars_total')).toBe(8)
  await session.close()
})

test('a rejected symbol is subscribed once its feed lists it', async () => {
  const { service, metric, reaches } = await startBoth(['LATER'])
  expect(await metric('rejected_symbols')).toBe(1)
  const session = await openSession(service)
  await session.catalogue([{ raw: 'LATER', type: 'forex', digits: 5 }], { snapshot: false })
  await reaches('subscribed_symbols', symbols.length + 1)
  expect(await metric('rejected_symbols')).toBe(0)
  await session.bars('LIVE', [seriesAt('LATER', [begin])])
  await reaches('pushed_bars_total', 1)
  await session.close()
})

test('an unknown key is retried with growing pauses, and the key file is read again each time', async () => {
  const { service, canary, metric, reaches } = await startBoth()
  const keyFile = join(service.home, 'key')
  await canary.stop()
  writeFileSync(keyFile, `fxd_${'0'.repeat(32)}\n`)
  await canary.start()
  await within(patienceMs, 'a refusal', async () => (await metric('socket_ends_total', { code: '401' })) >= 2)
  expect(await metric('socket_open')).toBe(0)
  writeFileSync(keyFile, `${service.key}\n`)
  await reaches('socket_open', 1)
})
