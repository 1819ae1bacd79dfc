import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { answerOf, type UserAnswer } from '../../faults/support/cluster-user.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { run } from '../cluster/kubectl.ts'
import { kubernetesPrograms } from '../cluster/programs.ts'
import { namespace } from '../installed/installed.ts'

const repository = join(import.meta.dirname, '../../..')
const files = ['test/support/processes/run-interactive.ts', 'test/kubernetes/interactive.ts']
const startTimeoutMs = 900_000
const endTimeoutMs = 120_000
const patient = { timeout: 120_000, interval: 500 }

/** What the greeting prints. */
interface Greeting {
  readonly kubeconfig: string
  readonly url: string
  readonly address: string
  readonly folder: string
  readonly ca: string
  readonly key: string
}

/** Commands of all processes of this machine that name the folder. */
const processesOf = (folder: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandOf)
    .filter((command) => command.includes(folder))

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function greetingIn(text: string): Greeting {
  const found = (shape: RegExp): string => shape.exec(text)?.[1] ?? ''
  return {
    kubeconfig: found(/export KUBECONFIG=(\S+)/),
    url: found(/through the Ingress +(\S+) at /),
    address: found(/through the Ingress +\S+ at (\S+)/),
    folder: found(/removed at the end +(\S+)/),
    ca: found(/certificate authority +(\S+)/),
    key: found(/first-feed\.yaml: (fxd_[0-9a-f]{32})$/m),
  }
}

/** Sends the request of the greeting's curl example. */
const exampleOf = ({ url, address, ca, key }: Greeting): Promise<UserAnswer> =>
  answerOf((take) =>
    request(
      `${url}/v1/history?symbol=DEMO:SIM:EURUSD&resolution=1&countback=5`,
      {
        ca: readFileSync(ca),
        lookup: (_host, options, give) => {
          if (options.all) give(null, [{ address, family: 4 }])
          else give(null, address, 4)
        },
        agent: false,
        headers: { 'x-api-key': key },
      },
      take,
    ).end(),
  )

test('make kubernetes prints a working kubeconfig, address and key; Ctrl-C ends and removes everything', async () => {
  const child = spawn(
    join(repository, 'bin/node'),
    files.map((file) => join(repository, file)),
    { env: bareEnv(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [output, complaints] = ['', '']
  child.stdout.on('data', (piece: Buffer) => void (output += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => void (complaints += piece.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  // The next file starts another cluster.
  onTestFinished(async () => {
    child.kill('SIGINT')
    await ended
  }, endTimeoutMs)
  const example = /\n {2}curl .*\n/
  await expect
    .poll(() => example.test(output) || child.exitCode !== null, { timeout: startTimeoutMs, interval: 500 })
    .toBe(true)
  expect(output, complaints).toMatch(example)

  const greeting = greetingIn(output)
  const { kubeconfig, folder, ca } = greeting
  const kubectl = [kubernetesPrograms().kubectl, `--kubeconfig=${kubeconfig}`, '-n', namespace] as const
  const objects = await run([...kubectl, 'get', 'fxd', '-o=name'])
  expect(objects).toContain('feed.marketdata.fxd.dev/demo')
  expect(objects).toContain('apikey.marketdata.fxd.dev/first')
  await expect
    .poll(() => exampleOf(greeting), patient)
    .toMatchObject({ status: 200, body: { s: 'ok', t: expect.any(Array) as unknown } })
  expect(processesOf(folder)).not.toEqual([])

  child.kill('SIGINT')
  expect(await ended, complaints).toBe(0)
  await expect.poll(() => processesOf(folder)).toEqual([])
  expect([kubeconfig, folder, ca].filter((path) => existsSync(path))).toEqual([])
})
