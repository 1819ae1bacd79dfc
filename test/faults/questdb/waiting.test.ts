import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { type QuestdbServer, startQuestdb } from '../../support/questdb/server.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { feed, manifest, minuteSeconds, symbols } from '../support/market.ts'
import { StreamClient } from '../support/stream-client.ts'

const patient = { timeout: 60_000, interval: 200 }
/** Longer than the deadline of any read or small write. */
const outageMs = 45_000

/** A collector that sends a minute of all symbols every 200 ms, and never waits for an Ack. */
class Pusher {
  readonly session: RawSession
  /** Opens of the sent minutes. */
  readonly times: number[] = []
  /** How the session ended. */
  end: unknown
  readonly #sequences: Readonly<Record<'1' | '5', number[]>> = { '1': [], '5': [] }
  readonly #begin = Math.floor(Date.now() / 86_400_000 - 20) * 86_400
  #isStopping = false
  #running: Promise<void> = Promise.resolve()

  constructor(fxd: FxdProcess) {
    this.session = new RawSession(fxd.grpc, fxd)
    void this.session.ended.then((end) => (this.end = end))
  }

  async start(): Promise<this> {
    await this.session.hello(feed)
    this.#running = this.#run()
    return this
  }

  posted(resolution: '1' | '5'): number {
    return this.#sequences[resolution].length
  }

  /** Number of acknowledged messages. */
  acked(resolution: '1' | '5'): number {
    const acked = new Set(this.session.received.flatMap(({ ack }) => ack?.sequence ?? []))
    return this.#sequences[resolution].filter((sequence) => acked.has(sequence)).length
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const time = this.#begin + this.times.length * minuteSeconds
      this.times.push(time)
      this.#post('1', time)
      if (time % 300 === 240) this.#post('5', time - 240)
      await pause(200)
    }
  }

  #post(resolution: '1' | '5', time: number): void {
    const bars = symbols.map((symbol) => seriesAt(symbol, [time], { resolution }))
    this.#sequences[resolution].push(this.session.post('LIVE', bars))
  }
}

async function begin(prefix: string) {
  const server = await startQuestdb({ startsQuickly: true })
  onTestFinished(() => server.stop())
  const manifests = [manifest.replace('["1", "30"]', '["1", "5", "30"]')]
  const fxd = await FxdProcess.start({ ...server, prefix, manifests })
  await fxd.takeKey()
  const client = new StreamClient({
    name: 'client',
    url: fxd.url.replace('http', 'ws'),
    key: fxd.key,
    feed,
    symbols,
    resumes: false,
    random: Math.random,
  }).start()
  onTestFinished(() => client.stop())
  await expect.poll(() => client.record?.symbols?.length, patient).toBe(symbols.length)
  const pusher = await new Pusher(fxd).start()
  await expect.poll(() => pusher.acked('5'), patient).toBeGreaterThan(3)
  /** A `GAP` is -1. */
  const seen = () => client.records.flatMap((record) => record.seen)
  const pushed = (): number[] => [
    ...new Set(seen().map((frame) => (frame.type === 'bar' ? frame.bar.time : -1))),
  ]
  return { server, fxd, client, pusher, pushed }
}

const tablesOf = async (server: QuestdbServer, prefix: string, word: string): Promise<string[]> => {
  const rows = await server.exec(`SELECT table_name FROM tables()`)
  return rows
    .map(([table]) => String(table))
    .filter((table) => table.startsWith(`${prefix}bars_`) && table.split('_').includes(word))
}

/** Suspends a table. QuestDB may undo it while it applies rows, so this repeats until the state stays. */
async function suspend(server: QuestdbServer, table: string): Promise<void> {
  const query = `SELECT table_suspended FROM tables() WHERE table_name = '${table}'`
  for (let seen = 0; seen < 5; await pause(100)) {
    const [row] = await server.exec(query)
    seen = row?.[0] === true ? seen + 1 : 0
    if (seen === 0) await server.exec(`ALTER TABLE '${table}' SUSPEND WAL`)
  }
}

const historyOf = async (fxd: FxdProcess, symbol: string, times: readonly number[]): Promise<unknown> => {
  const range = `from=${times[0]}&to=${times.at(-1)}`
  const { body } = await fxd.get(`/v1/history?symbol=${feed}:${symbol}&resolution=1&${range}`)
  return (body as { t?: readonly number[] }).t
}

async function expectStoredOnce(
  fxd: FxdProcess,
  server: QuestdbServer,
  prefix: string,
  times: readonly number[],
): Promise<void> {
  for (const symbol of symbols) expect(await historyOf(fxd, symbol, times)).toEqual(times)
  const tables = await tablesOf(server, prefix, 'm1')
  const counts = await Promise.all(tables.map((table) => server.exec(`SELECT count() FROM '${table}'`)))
  expect(counts.reduce((sum, [row]) => sum + Number(row?.[0]), 0)).toBe(times.length * symbols.length)
}

test('while QuestDB is stopped for 45 s every live bar is pushed and no session or socket ends; afterwards all are acknowledged and stored once', {
  timeout: 400_000,
}, async () => {
  const { server, fxd, client, pusher, pushed } = await begin('wait_')
  await server.kill()
  const before = pusher.times.length
  await pause(outageMs)
  const sent = pusher.times.length
  expect(sent - before).toBeGreaterThan(100)
  await expect.poll(() => pushed().length, { timeout: 5_000 }).toBeGreaterThanOrEqual(sent)
  expect([pusher.end, client.records.length]).toEqual([undefined, 1])
  await server.start()
  await pusher.stop()
  await expect.poll(() => pusher.acked('1'), patient).toBe(pusher.times.length)
  expect([pusher.end, client.records.length]).toEqual([undefined, 1])
  await expect.poll(pushed).toEqual(pusher.times)
  await expectStoredOnce(fxd, server, 'wait_', pusher.times)
})

test('while a table of five minutes is suspended, minutes are pushed, acknowledged, claimed and in history; its own bars are acknowledged after its repair', {
  timeout: 400_000,
}, async () => {
  const { server, fxd, pusher, pushed } = await begin('five_')
  await Promise.all((await tablesOf(server, 'five_', 'm5')).map((table) => suspend(server, table)))
  await expect.poll(() => fxd.platformStatus(), { ...patient, timeout: 150_000 }).toBe('degraded')
  const fives = pusher.acked('5')
  await expect.poll(() => pusher.posted('5'), patient).toBeGreaterThan(fives + 5)
  await expect.poll(() => pusher.times.length - pusher.acked('1'), patient).toBeLessThan(5)
  const times = pusher.times.slice(0, pusher.acked('1'))
  await pusher.session.window('1', times[0] ?? 0, (times.at(-1) ?? 0) + minuteSeconds, symbols[0])
  expect(await historyOf(fxd, symbols[0], times)).toEqual(times)
  expect(pushed().slice(0, times.length)).toEqual(times)
  const { body } = await fxd.get(`/v1/coverage?symbol=${feed}:${symbols[0]}`)
  expect(body).toMatchObject({ coverage: [{ from: times[0], to: times.at(-1) }] })
  expect([pusher.acked('5') < pusher.posted('5'), pusher.end]).toEqual([true, undefined])
  for (const table of await tablesOf(server, 'five_', 'm5'))
    await server.exec(`ALTER TABLE '${table}' RESUME WAL`)
  await pusher.stop()
  await expect.poll(() => pusher.acked('5'), { ...patient, timeout: 120_000 }).toBe(pusher.posted('5'))
  expect(pusher.end).toBeUndefined()
  await expect.poll(() => fxd.platformStatus(), patient).toBe('ok')
})
