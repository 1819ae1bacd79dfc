import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bareEnv } from '../../support/bare-env.ts'
import { freePorts } from '../../support/free-ports.ts'

const repository = join(import.meta.dirname, '../../..')
const untilReady = { timeout: 150_000, interval: 100 }

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('make cluster prints what a person needs, its example answers with bars, and Ctrl-C leaves nothing behind', async () => {
  const [port = 0] = await freePorts(1)
  const child = spawn(join(repository, 'bin/node'), [join(repository, 'test/support/cluster/main.ts')], {
    env: { ...bareEnv(), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let said = ''
  child.stdout.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  await expect.poll(() => said, untilReady).toMatch(/\n {2}curl .*\n/)

  const [, key, url] = /curl -H 'X-API-Key: (\w+)' '(\S+)'/.exec(said) ?? []
  expect(url).toContain(`http://127.0.0.1:${port}/v1/history?`)
  const answer = async (): Promise<unknown> =>
    (await fetch(String(url), { headers: { 'x-api-key': String(key) } })).json()
  await expect.poll(answer, untilReady).toMatchObject({ s: 'ok' })
  const pids = [...said.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid))
  expect(pids.length).toBeGreaterThan(6)
  expect(pids.filter(isAlive)).toEqual(pids)

  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(pids.filter(isAlive)).toEqual([])
  const [, home = ''] = /removed at the end +(\S+)/.exec(said) ?? []
  expect(home).not.toBe('')
  expect(existsSync(home)).toBe(false)
})
