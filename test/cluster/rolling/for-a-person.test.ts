import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { oneSymbolFeed, pushed } from '../../support/samples/one-symbol-feed.ts'

const repository = join(import.meta.dirname, '../../..')
const files = ['test/support/processes/run-interactive.ts', 'test/support/cluster/interactive.ts']
const untilReady = { timeout: 150_000, interval: 100 }

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface MakeCluster {
  readonly port: number
  /** Standard output so far. */
  output(): string
  interrupt(): void
  /** Resolves with the exit code and what it wrote to its standard error. */
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>
}

async function makeCluster(env: Readonly<Record<string, string>> = {}): Promise<MakeCluster> {
  const [port = 0] = await freePorts(1)
  const child = spawn(
    join(repository, 'bin/node'),
    files.map((file) => join(repository, file)),
    {
      env: { ...bareEnv(), PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let [output, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => void (output += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => void (err += piece.toString()))
  return {
    port,
    output: () => output,
    interrupt: () => void child.kill('SIGINT'),
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, err }))),
  }
}

/** Waits for the curl example in the greeting; returns a function that sends it and resolves with the answer. */
async function example({ output, port }: MakeCluster): Promise<() => Promise<unknown>> {
  await expect.poll(output, untilReady).toMatch(/\n {2}curl .*\n/)
  const [, key, url] = /curl -H 'X-API-Key: (\w+)' '(\S+)'/.exec(output()) ?? []
  expect(url).toContain(`http://127.0.0.1:${port}/v1/`)
  return async () => (await fetch(String(url), { headers: { 'x-api-key': String(key) } })).json()
}

/** Process id of a part of the cluster, as the greeting prints it. */
const pidOf = ({ output }: MakeCluster, name: string): number =>
  Number(new RegExp(`^ +${name} +process (\\d+)`, 'm').exec(output())?.[1])

test('make cluster prints a working example, and Ctrl-C ends every process and removes the folder', async () => {
  const cluster = await makeCluster()
  const answer = await example(cluster)
  await expect.poll(answer, untilReady).toMatchObject({ s: 'ok' })
  const pids = [...cluster.output().matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid))
  expect(pids.length).toBeGreaterThan(9)
  expect(pids.filter(isAlive)).toEqual(pids)

  cluster.interrupt()
  expect(await cluster.ended).toEqual({ code: 0, err: '' })
  expect(pids.filter(isAlive)).toEqual([])
  const [, home = ''] = /removed at the end +(\S+)/.exec(cluster.output()) ?? []
  expect(home).not.toBe('')
  expect(existsSync(home)).toBe(false)
})

test('make cluster with FXD_FEEDS serves these feeds, passes fxd doctor, and restarts processes that end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-feeds-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'feed.yaml'), oneSymbolFeed(pushed))
  const cluster = await makeCluster({ FXD_FEEDS: folder })
  const answer = await example(cluster)
  const hasItsSymbol = { symbols: [{ symbol: 'BROKERA:ZERO:BTCUSD' }] }
  await expect.poll(answer, untilReady).toMatchObject(hasItsSymbol)

  const [, http, pg] = /QuestDB +http:\/\/(\S+)\/ and Postgres (\S+)/.exec(cluster.output()) ?? []
  const { code, out } = await fxd('doctor', {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: String(http),
    FXD_QUESTDB_PG: String(pg),
  })
  expect(out).toMatch(/^ok +commit mode: sync$/m)
  expect(out).toMatch(/^ok +workers: 4 for HTTP$/m)
  expect(code).toBe(0)

  const names = ['QuestDB', 'Redis', 'load-balancer', 'ingest-1', 'rest-1', 'stream-2']
  for (const name of names) process.kill(pidOf(cluster, name), 'SIGKILL')
  for (const name of names) {
    await expect
      .poll(cluster.output, untilReady)
      .toMatch(new RegExp(`^${name} ended with signal SIGKILL; restarting in [\\d.]+ s$`, 'm'))
    await expect
      .poll(cluster.output, untilReady)
      .toMatch(new RegExp(`^${name} restarted as process \\d+$`, 'm'))
  }
  await expect.poll(() => answer().catch(() => undefined), untilReady).toMatchObject(hasItsSymbol)

  const pids = [...cluster.output().matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid))
  cluster.interrupt()
  expect((await cluster.ended).code).toBe(0)
  expect(pids.filter(isAlive)).toEqual([])
})

test('make cluster with feeds that cannot be read ends at once, naming the path', async () => {
  const cluster = await makeCluster({ FXD_FEEDS: '/nowhere/feeds' })
  const { code, err } = await cluster.ended
  expect(code).toBe(1)
  expect(err).toContain('/nowhere/feeds')
  expect(cluster.output()).toBe('')
})

test('make cluster beside a program on its port ends at once, naming the port', async () => {
  const other = createServer()
  await once(other.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  const cluster = await makeCluster({ PORT: String(port) })
  const { code, err } = await cluster.ended
  expect(code).toBe(1)
  expect(err).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port} is in use .*set PORT to a free port\\.\n$`))
  expect(cluster.output()).toBe('')
})
