import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bitcoinMinutes, fold } from '../acceptance/client/bars.ts'
import { read } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { target } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'
import { PythonPackage } from './python-package.ts'

const source = fileURLToPath(new URL('../../clients/python', import.meta.url))
const symbol = 'BROKERA:ZERO:BTCUSD'
const bars = bitcoinMinutes()

let python: PythonPackage
let key = ''
beforeAll(async () => {
  python = new PythonPackage('requirements-recipes.txt')
  key = (await issueKey()).key
}, 600_000)
afterAll(() => python.discard())

const runPython = (args: readonly string[]) => {
  const env = { ...process.env, PYTHONPATH: python.site, FXD_API_KEY: key }
  return promisify(execFile)(python.interpreter, args, { cwd: source, env, maxBuffer: 2 ** 26 })
}
const run = async (args: readonly string[]): Promise<string> => (await runPython(args)).stdout
/** Ten-minute bars of the imported minutes. */
const ten = fold(bars, 600)
const recipe = (name: string) => run([`recipes/with_${name}.py`, target().url, symbol])

test('its rules hold in the tests beside it', async () => {
  const { stderr } = await runPython(['-m', 'unittest', 'discover', 'tests'])
  expect(stderr).toMatch(/Ran \d\d+ tests/)
})

test('its types are strict', { timeout: 180_000 }, async () => {
  expect(await run(['-m', 'mypy', '--cache-dir', join(python.site, 'mypy')])).toContain('no issues')
})

test('the first example of its README runs as it is, with the address and the key of a service', async () => {
  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  const program = /```python\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const lines = program
    .replace('http://127.0.0.1:8080', target().url)
    .replace('fxd_…', key)
    .replace('BROKERA:ZERO:EURUSD', symbol)
    .replace('datetime(2026, 1, 5)', 'datetime(2013, 11, 1)')
  const env = { ...process.env, PYTHONPATH: python.site }
  const example = spawn(python.interpreter, ['-u', '-c', lines], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void example.kill('SIGKILL'))
  let text = ''
  example.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await until('the bars of history', () => text.split('\n').length > bars.length)
  expect(text.trim().split('\n')).toEqual(bars.map(({ time, close }) => `${symbol} ${time} ${close}`))
})

test('all history comes in frames of pandas and polars', async () => {
  const pandas = (await recipe('pandas')).trim().split('\n')
  expect(pandas).toHaveLength(ten.length + 2)
  const polars = (await recipe('polars')).trim().split('\n')
  const shown = ten.map(({ open, high, low, close, volume }) => [open, high, low, close, volume].map(Number))
  expect(polars.slice(1).map((line) => line.split(',').slice(1, 6).map(Number))).toEqual(shown)
})

test.for(['backtrader', 'vectorbt'])(
  '%s trades on all bars of history',
  { timeout: 180_000 },
  async (name) => {
    const [, count, value] = /bars: (\d+),.* value: ([\d.]+)/.exec(await recipe(name)) ?? []
    expect(Number(count)).toBe(bars.length)
    expect(Number(value)).not.toBe(10_000)
  },
)

test('both faces answer each endpoint alike, and raise the code of the service', async () => {
  const script = fileURLToPath(new URL('endpoints.py', import.meta.url))
  const [sync, async] = (await run([script, target().url, key, symbol])).trim().split('\n')
  expect(async).toBe(sync)
  const { answers } = JSON.parse(sync ?? '') as { answers: unknown[] }
  const path = (query: string) => read(`/v1/${query}`, key)
  const hours = fold(bars, 3600).map(({ time }) => time - 10_800)
  expect(answers).toEqual([
    expect.arrayContaining([symbol]),
    await path(`symbols?symbol=${symbol}`),
    await path(`coverage?symbol=${symbol}`),
    await path('config'),
    (await read<{ limits: object }>('/v1/usage', key)).limits,
    await path(`coverage?symbol=${symbol}&resolution=1`),
    await path(`coverage?symbol=${symbol}&resolution=5`),
    hours.filter((time) => time + 10_800 <= 1_383_350_400),
    'SYMBOL_NOT_FOUND',
    404,
  ])
})
