import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '../../support/clients/new-key.ts'
import { statusOf } from '../../support/cluster/answers.ts'
import { type Cluster, startCluster } from '../../support/cluster/cluster.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { doctor } from '../../support/questdb/doctor.ts'
import { followed, followedFeed, writeExport } from '../../support/samples/followed-feed.ts'
import { ask } from '../support/cluster-user.ts'

const startTimeoutMs = 300_000
const timeoutMs = 400_000
const patient = { timeout: 60_000, interval: 100 }

const home = mkdtempSync(join(tmpdir(), 'fxd-emptied-'))
const exports = join(home, 'exports')
const begin = Math.floor(Date.now() / 60_000) * 60 - 3_600
const minutes = Array.from({ length: 10 }, (_, i) => begin + 60 * i)
let cluster: Cluster
let key = ''
beforeAll(async () => {
  mkdirSync(exports)
  const feeds = join(home, 'feeds.yaml')
  writeFileSync(feeds, followed(exports, ['GOLD']))
  writeExport(exports, 'GOLD', minutes)
  cluster = await startCluster({ rest: 1, stream: 1, ingest: 2, feeds, home: join(home, 'cluster') })
  key = await makeKey()
}, startTimeoutMs)
afterAll(async () => {
  await cluster?.stop()
  rmSync(home, { recursive: true, force: true })
}, startTimeoutMs)

const makeKey = (): Promise<string> => newKey(cluster.commandEnv, `--plan pro --feeds ${followedFeed}`)
const historyPath = `/v1/history?symbol=${followedFeed}:GOLD&resolution=1&from=${begin}&to=${begin + 3_600}`
const history = async () => {
  const { status, body } = await ask(cluster.httpPort, historyPath, key)
  const { s, t = [] } = body as { readonly s?: string; readonly t?: readonly number[] }
  return { status, s, bars: t.length }
}
const examined = () => doctor(cluster.questdb, 'fxd_', { FXD_REDIS: cluster.redis.url })

/** Loses the volume of QuestDB. */
async function empty(): Promise<void> {
  await cluster.questdb.kill()
  for (const name of readdirSync(cluster.questdb.folder))
    rmSync(join(cluster.questdb.folder, name), { recursive: true })
  await cluster.questdb.start()
}

const sessionsAt = async (name: string): Promise<string | undefined> => {
  const text = await (await fetch(`http://127.0.0.1:${cluster.pod(name).opsPort}/metrics`)).text()
  return /^fxd_ingest_active_sessions\{[^}]*\} (\d+)$/m.exec(text)?.[1]
}
/** Accepts the empty server at an ingest; what the collector's source still has is served again. */
async function accept(name: string): Promise<void> {
  const { port, program } = cluster.pod(name)
  const env = { ...cluster.commandEnv, FXD_GRPC_ADDR: `127.0.0.1:${port}` }
  expect(await fxd('store begin', env)).toMatchObject({ code: 0, err: '' })
  await program.ready()
  // The keys were in the lost registry.
  await expect.poll(async () => (await ask(cluster.httpPort, '/v1/status', key)).status, patient).toBe(401)
  // The ingest that is asked may not have followed yet.
  await expect.poll(async () => (key = await makeKey().catch(() => '')), patient).not.toBe('')
  await expect.poll(history, patient).toEqual({ status: 200, s: 'ok', bars: minutes.length })
  expect((await ask(cluster.httpPort, '/v1/status', key)).body).toMatchObject({ status: 'ok' })
  // Ingests may still make tables, some of which the server lists and then lacks.
  await expect.poll(async () => (await examined()).lines.join('\n'), patient).not.toContain('WRONG')
}

test('QuestDB loses its volume and an ingest restarts: nothing is created and history stays 500 until a person accepts the empty server', {
  timeout: timeoutMs,
}, async () => {
  await expect.poll(history, patient).toEqual({ status: 200, s: 'ok', bars: minutes.length })
  await empty()
  await expect.poll(async () => (await history()).status, patient).toBe(500)

  const { program, opsPort } = cluster.pod('ingest-1')
  await program.stop('SIGINT')
  const said = readFileSync(program.log, 'utf8').length
  program.begin()
  const isRefused = (): boolean => /fxd store begin/.test(readFileSync(program.log, 'utf8').slice(said))
  await expect
    .poll(async () => isRefused() || (await statusOf(opsPort, '/readyz')) === 200, patient)
    .toBe(true)
  expect(await history()).toMatchObject({ status: 500, s: 'error' })
  expect((await ask(cluster.httpPort, '/v1/status', key)).body).toMatchObject({ status: 'degraded' })
  expect((await cluster.questdb.exec('SELECT table_name FROM all_tables()')).flat()).toEqual([])
  expect(await statusOf(opsPort, '/readyz')).toBe(503)
  const found = await examined()
  expect(found.code).toBe(1)
  expect(found.lines.join('\n')).toMatch(/WRONG +identity: .*do not restart ingest/)

  await accept('ingest-1')
})

test('an ingest that is older than the loss accepts the empty server too, and idle collectors at another one send their bars again', {
  timeout: timeoutMs,
}, async () => {
  const sessions = () => Promise.all(['ingest-1', 'ingest-2'].map(sessionsAt))
  await expect.poll(sessions, patient).toContain('1')
  const other = (await sessions())[0] === '1' ? 'ingest-2' : 'ingest-1'
  await empty()
  await expect.poll(async () => (await history()).status, patient).toBe(500)
  await accept(other)
})
