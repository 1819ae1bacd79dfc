import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { beforeEach, expect, test } from 'vitest'

const html = readFileSync(new URL('page.html', import.meta.url), 'utf8')
const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''

interface PageSocket {
  onclose?: (event: { code: number }) => void
  onmessage?: (event: { data: string }) => void
}

let output: { textContent: string }
let sockets: PageSocket[]
let watch: () => Promise<void>
let closes: number[]
let coverage: { from: number; to: number }[]
let coverageError: { message: string } | undefined

/** Runs the page's own script on the parts of a browser that it uses. */
beforeEach(() => {
  output = { textContent: '' }
  sockets = []
  closes = [1.5]
  coverage = [{ from: 0, to: 60 }]
  coverageError = undefined
  const form = {
    addEventListener: (_: string, submit: (event: object) => Promise<void>) => {
      watch = () => submit({ preventDefault: () => undefined, target: form })
    },
  }
  const document = {
    querySelectorAll: () => [],
    querySelector: (name: string) =>
      name === 'output' ? output : name === 'form' ? form : { setAttribute: () => undefined },
  }
  const covered = () => (coverageError ? { error: coverageError } : { coverage })
  class Socket implements PageSocket {
    onclose?: NonNullable<PageSocket['onclose']>
    onmessage?: NonNullable<PageSocket['onmessage']>
    readyState = 1
    constructor() {
      sockets.push(this)
    }
    close(): void {}
    send(): void {}
  }
  const around = {
    document,
    location: { origin: 'http://127.0.0.1' },
    fetch: (url: string) =>
      Promise.resolve({
        json: () => Promise.resolve(url.startsWith('/v1/coverage') ? covered() : { s: 'ok', c: closes }),
      }),
    WebSocket: Socket,
    FormData: class {
      *[Symbol.iterator]() {
        yield ['key', 'k']
        yield ['symbol', 'BROKERA:ZERO:EURUSD']
      }
    },
    URLSearchParams,
    setInterval: () => 0,
    clearInterval: () => undefined,
  }
  runInNewContext(script, around)
})

test('the socket of an earlier subscription does not overwrite the output of a later one', async () => {
  await watch()
  await watch()
  const text = output.textContent
  expect(text).toBe('1 minutes; last close 1.5')
  sockets[0]?.onclose?.({ code: 1000 })
  sockets[0]?.onmessage?.({ data: '{"type":"bar","bar":{"time":0,"close":9}}' })
  expect(output.textContent).toBe(text)
  sockets[1]?.onclose?.({ code: 1012 })
  expect(output.textContent).toBe('the stream closed (1012)')
})

test('a symbol that the stream rejects is shown as rejected', async () => {
  await watch()
  sockets[0]?.onmessage?.({ data: '{"type":"subscribed","symbols":[],"rejected":["BROKERA:ZERO:EURUSD"]}' })
  expect(output.textContent).toBe('rejected: BROKERA:ZERO:EURUSD')
})

test('for an unknown symbol the output is the error of coverage, and no socket is opened', async () => {
  coverageError = { message: 'The symbol does not exist.' }
  await watch()
  expect(output.textContent).toBe('The symbol does not exist.')
  expect(sockets).toEqual([])
})

test('for a symbol without one-minute bars the output says that there are none', async () => {
  closes = []
  await watch()
  expect(output.textContent).toBe('no one-minute bars')
})

test.each([
  [[1.5], '1 minutes; last close 1.5; fxd is reading its history'],
  [[], 'no one-minute bars: fxd has not read its history yet, or is reading it now'],
])('bars %j without coverage: the output is that of the first read', async (bars, text) => {
  closes = bars
  coverage = []
  await watch()
  expect(output.textContent).toBe(text)
})
