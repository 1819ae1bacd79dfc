import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTerminal, type Terminal } from '../support/clients/terminal.ts'
import { statusOf } from '../support/cluster/answers.ts'
import {
  repository,
  type ServicePlace,
  servicePlace,
  startChildService,
} from '../support/processes/child-service.ts'

const command = [join(repository, 'bin/node'), 'services/main.ts', 'all']
const startTimeout = { timeout: 40_000 }

async function start(more: Readonly<Record<string, string>> = {}, standsStill = false) {
  const place = await servicePlace(more)
  return { ...place, terminal: await startOnTerminal(place, standsStill) }
}

async function startOnTerminal({ env, opsPort }: ServicePlace, standsStill = false): Promise<Terminal> {
  const terminal = openTerminal(command, { cwd: repository, env, standsStill })
  await expect.poll(() => statusOf(opsPort, '/readyz'), startTimeout).toBe(200)
  await expect.poll(() => terminal.screen, startTimeout).toContain('fxd is ready')
  return terminal
}

/** The screen without the carriage returns that a terminal adds. */
const words = (screen: string): string => screen.replaceAll('\r', '')

test('on a terminal the start shows the greeting and only warnings of the log, as text', async () => {
  const { terminal, httpPort } = await start({ FXD_STREAM_CONNECTIONS_MAX: '1000000' })
  expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  process.kill(terminal.pid, 'SIGTERM')
  expect(await terminal.ended).toBe(0)
  const screen = words(terminal.screen)
  expect(screen).toMatch(
    /^\d\d:\d\d:\d\dZ warn {2}low limit of file handles: .* \(limit=\d+, needed=\d+, http=\d+, sockets=\d+, grpc=\d+, ops=\d+\)$/m,
  )
  expect(screen).not.toMatch(/^\{/m)
  expect(screen).not.toMatch(/\binfo\b/)
})

test('with the demo feeds the first start leaves a key and three commands on the screen; a later one says how to make a key', async () => {
  const place = await servicePlace()
  const demo = { ...place, env: { ...place.env, FXD_FEEDS: undefined } }
  const screenOf = async (): Promise<string> => {
    const terminal = await startOnTerminal(demo)
    process.kill(terminal.pid, 'SIGTERM')
    expect(await terminal.ended).toBe(0)
    return words(terminal.screen)
  }
  const first = await screenOf()
  expect(first).toMatch(/^This is a key for the demo feeds\. It is shown only once: fxd_[0-9a-f]{32}$/m)
  expect(first.match(/^ {2}(curl|bin\/node) .*fxd_[0-9a-f]{32}/gm)).toHaveLength(3)
  const second = await screenOf()
  expect(second).not.toMatch(/fxd_[0-9a-f]{32}/)
  expect(second).toMatch(/^ {2}.*npm run -s fxd -- keys create --plan pro --feeds /m)
})

test('on a terminal FXD_LOG_LEVEL=info shows every event as text', async () => {
  const { terminal, httpPort } = await start({ FXD_LOG_LEVEL: 'info' })
  expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  await expect
    .poll(() => words(terminal.screen))
    .toMatch(/^\S+Z info {2}request completed \(.*route=\/v1\/config, status=200/m)
  process.kill(terminal.pid, 'SIGTERM')
  expect(await terminal.ended).toBe(0)
})

test('on a terminal FXD_LOG_FORMAT=json writes JSON lines', async () => {
  const { terminal, httpPort } = await start({ FXD_LOG_FORMAT: 'json' })
  expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  await expect.poll(() => words(terminal.screen)).toMatch(/^\{"level":30,.*"msg":"request completed"\}$/m)
  process.kill(terminal.pid, 'SIGTERM')
  expect(await terminal.ended).toBe(0)
})

test.each([
  [{}, /^\{"level":30,.*"route":"\/v1\/config".*"msg":"request completed"\}$/m],
  [{ FXD_LOG_FORMAT: 'text' }, /^\S+Z info {2}request completed \(/m],
])('without a terminal, with %o, every event is one line', async (env, line) => {
  const service = await startChildService({ stdio: ['ignore', 'ignore', 'pipe'], env })
  let log = ''
  service.child.stderr?.on('data', (part: Buffer) => void (log += part.toString()))
  expect(await statusOf(service.httpPort, '/v1/config')).toBe(200)
  await expect.poll(() => log).toMatch(line)
  expect(await service.stop(15_000)).toBe(0)
})

test('a terminal that accepts no more output: REST answers and SIGTERM ends the process', async () => {
  const { terminal, httpPort } = await start({ FXD_LOG_LEVEL: 'info' }, true)
  for (let n = 0; n < 500; n += 1) expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  process.kill(terminal.pid, 'SIGTERM')
  await expect.poll(() => statusOf(httpPort, '/v1/config'), { timeout: 15_000 }).toBe(0)
  await expect.poll(() => isAlive(terminal.pid), { timeout: 15_000 }).toBe(false)
})

test('a terminal that is closed ends the process', async () => {
  const { terminal, httpPort } = await start({}, true)
  expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  terminal.close()
  expect(await terminal.ended).toBe(0)
})

test('SIGHUP reloads the manifests and the process keeps running', async () => {
  const { terminal, httpPort } = await start({ FXD_LOG_LEVEL: 'info' })
  process.kill(terminal.pid, 'SIGHUP')
  await expect.poll(() => words(terminal.screen)).toContain('Feed manifests reloaded')
  expect(await statusOf(httpPort, '/v1/config')).toBe(200)
  process.kill(terminal.pid, 'SIGTERM')
  expect(await terminal.ended).toBe(0)
})

/** Whether the process is running; a zombie is not. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
