import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { run } from '../acceptance/client/command.ts'
import { withoutServiceVariables } from '../acceptance/client/service-process.ts'
import { until } from '../acceptance/client/until.ts'
import { useService } from './one-service.ts'

const repository = join(import.meta.dirname, '../..')
const command = [join(repository, 'bin/node'), join(repository, 'services/main.ts'), 'watch'] as const
const service = useService()
const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

const watch = (args: readonly string[]) => {
  const [program, ...rest] = [...command, ...args, '--url', service.url] as const
  const env = { ...withoutServiceVariables(process.env), FXD_API_KEY: service.key }
  const child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  const seen = { out: '', err: '' }
  child.stdout.on('data', (text: Buffer) => (seen.out += String(text)))
  child.stderr.on('data', (text: Buffer) => (seen.err += String(text)))
  return { child, seen, lines: () => seen.out.split('\n').slice(0, -1) }
}

test('fxd watch prints stored and live bars as text, JSON lines and CSV', async () => {
  const { symbol, file, stored, next } = await service.prepare('EURUSD')
  const from = ['--from', new Date(stored[0]!.time * 1_000).toISOString().slice(0, 16)]
  const all = ['text', '--json', '--csv'].map((format) =>
    watch([symbol, ...from, ...(format === 'text' ? [] : [format])]),
  )
  await until('history', () => all.every(({ lines }) => lines().length >= stored.length))
  file.append(...next)
  const bars = [...stored, ...next]
  const [text, json, csv] = all
  await until('live bars', () => csv!.lines().length > bars.length && text!.lines().length === bars.length)
  await until('live bars', () => json!.lines().length === bars.length)
  expect(json!.lines().map((line) => JSON.parse(line) as unknown)).toEqual(
    bars.map((bar) => ({ type: 'bar', symbol, ...bar })),
  )
  const [head, first] = csv!.lines()
  expect(head).toBe('symbol,time,open,high,low,close,volume')
  expect(first).toBe([symbol, ...(Object.values(bars[0]!) as number[])].join(','))
  const minute = new Date(bars[0]!.time * 1_000).toISOString().slice(0, 16).replace('T', ' ')
  expect(text!.lines()[0]).toMatch(new RegExp(`^${symbol}  ${minute}  `))
  expect(all.map(({ seen }) => seen.err)).toEqual(['', '', ''])
})

test('fxd watch ends quietly when the reader of its output ends', async () => {
  const { symbol, stored } = await service.prepare('GBPUSD', 20_000)
  const line = `FXD_API_KEY=${service.key} '${command[0]}' '${command[1]}' watch ${symbol} --from 2020-01-01 --url ${service.url} | head -n 2 #`
  const { stdout, stderr } = await run(line, [])
  expect(stdout.split('\n')[0]).toContain(String(stored[0]!.open))
  expect(stderr).toBe('')
})

test.each([
  ['an unknown symbol', ['BROKERA:ZERO:NOSUCH'], 1, /SYMBOL_REJECTED: rejected: BROKERA:ZERO:NOSUCH/],
  ['a name without a feed', ['EURUSD'], 1, /INVALID_PARAMS: symbols: got EURUSD, wanted BROKER:ACCOUNT:NAME/],
  ['a wrong time', ['BROKERA:ZERO:EURUSD', '--from', 'noon'], 64, /--from is "noon"/],
])('fxd watch refuses %s by name', async (_, args, code, sentence) => {
  const { child, seen } = watch(args)
  await until('the end', () => child.exitCode !== null)
  expect(child.exitCode).toBe(code)
  expect(seen.err).toMatch(sentence)
})
