import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mountable, mountSmallDisk } from '../support/fixtures/small-disk.ts'
import { type ChildService, startChildService } from '../support/processes/child-service.ts'

const stopDeadlineMs = 15_000
const droppedLines = 'fxd_log_dropped_lines_total'

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** Sends a request; each answer writes a log line. */
const ask = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/v1/config', agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    }).once('error', reject)
  })

/** Sends `count` requests, all of which must be answered with 200. */
async function askMany({ httpPort }: ChildService, count: number): Promise<void> {
  const statuses = new Set<number>()
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) statuses.add(await ask(httpPort))
  }
  await Promise.all(Array.from({ length: 32 }, one))
  expect([...statuses]).toEqual([200])
}

/** Sends requests until log lines are dropped; at most 80,000. */
async function askUntilDropping(service: ChildService): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds += 1) {
    await askMany(service, 4_000)
    if ((await service.metric(droppedLines)) > 0) return
  }
  throw new Error('no line was dropped')
}

const openPipe = () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-pipe-'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const reader = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(join(folder, 'pipe'), constants.O_WRONLY)
  rmSync(folder, { recursive: true })
  return { reader, writer }
}

async function startOnPipe() {
  const { reader, writer } = openPipe()
  const service = await startChildService({ stdio: ['ignore', writer, writer] })
  closeSync(writer)
  return { reader, service }
}

test('an unread log pipe: REST answers, log lines are dropped and counted, and the log states how many', async () => {
  const { reader, service } = await startOnPipe()
  onTestFinished(() => closeSync(reader))
  await askUntilDropping(service)
  const chunk = Buffer.alloc(1_048_576)
  let log = ''
  await expect
    .poll(
      () => {
        try {
          for (;;) log += chunk.toString('utf8', 0, readSync(reader, chunk))
        } catch {
          return /"lines":(\d+),"msg":"log lines dropped/.exec(log)?.[1]
        }
      },
      { timeout: 30_000 },
    )
    .toBe(String(await service.metric(droppedLines)))
  expect(await service.stop(stopDeadlineMs)).toBe(0)
})

test('an unread log pipe: SIGTERM ends the process', async () => {
  const { reader, service } = await startOnPipe()
  onTestFinished(() => closeSync(reader))
  await askMany(service, 1_000)
  expect(await service.stop(stopDeadlineMs)).toBe(0)
})

test('a log pipe without a reader: REST answers and SIGTERM ends the process', async () => {
  const { reader, service } = await startOnPipe()
  closeSync(reader)
  await askMany(service, 1_000)
  expect(await service.stop(stopDeadlineMs)).toBe(0)
})

test('output and log on a full device: REST answers and SIGTERM ends the process', async () => {
  const full = openSync('/dev/full', 'w')
  const service = await startChildService({ stdio: ['ignore', full, full] })
  closeSync(full)
  await askMany(service, 1_000)
  expect(await service.stop(stopDeadlineMs)).toBe(0)
})

test.each(mountable(1_048_576))(
  'a full disk of $bytes bytes under the log: REST answers, and logging continues once space is free',
  async ({ bytes }) => {
    const disk = mountSmallDisk(bytes)
    onTestFinished(() => disk.remove())
    const path = join(disk.folder, 'log')
    const file = openSync(path, 'a')
    const service = await startChildService({ stdio: ['ignore', file, file] })
    closeSync(file)
    disk.fill(0)
    await askMany(service, 1_000)
    disk.free()
    await expect
      .poll(() => readFileSync(path, 'utf8').split('"msg":"request completed"').length - 1, {
        timeout: 30_000,
      })
      .toBe(1_000)
    expect(await service.stop(stopDeadlineMs)).toBe(0)
  },
)
