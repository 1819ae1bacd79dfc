import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { fxd } from '../../../test/support/fixtures/cli-fixture.ts'
import { temporaryFolder } from '../../../test/support/fixtures/temporary-folder.ts'
import { openEndpoint, terminalToken } from '../../../test/support/fixtures/terminal-fixture.ts'
import { Refusal, refusalCodes } from '../../collector/sources/terminal/endpoint/refusal.ts'
import { feedOfToken, readTerminalTokens } from '../../collector/sources/terminal/endpoint/terminal-tokens.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { examples } from './examples.ts'

const pagePath = fileURLToPath(new URL('../../../docs/terminal-protocol.md', import.meta.url))
const page = readFileSync(pagePath, 'utf8')
/** Names in the first table of the page, and of its bar line none. */
const names = [...(page.split('## Lines of the answer')[0] ?? '').matchAll(/^\| `([a-z]+)` \|/gm)].map(
  ([, name]) => name,
)
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

test('docs/terminal-protocol.md has every refusal with its status', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \|/gm)].map(
    ([, status, code]) => `${status} ${code}`,
  )
  expect(rows).toEqual(refusalCodes.map((code) => `${new Refusal(code, '').status} ${code}`))
})

describe('the examples of docs/terminal-protocol.md', () => {
  test('have a curl for each line of a terminal, and are those of fxd terminal say', () => {
    expect(examples.map((lines) => lines.split('\t')[0])).toEqual(names)
    const posted = blocks.flatMap((block) => /^printf 'fxd\\t1\\t(?:0|%s)\\t(\d+)\\n(.*)' /.exec(block) ?? [])
    expect(posted.filter((_, at) => at % 3 === 1)).toEqual(examples.map((_, at) => String(at)))
    const lines = posted.filter((_, at) => at % 3 === 2)
    expect(lines.map((each) => JSON.parse(`"${each}"`) as string)).toEqual(examples)
  })

  test('are answered with 200 by an endpoint when a shell runs them', async () => {
    const { endpoint, feed } = await openEndpoint()
    const shell = async (script: string): Promise<string> => {
      const options = { env: { PATH: process.env['PATH'], TOKEN: terminalToken } }
      return (await promisify(execFile)('sh', ['-c', script], options)).stdout
    }
    const [define = '', hello = '', , ...posts] = blocks.map((block) =>
      block.replace('localhost:8091', `127.0.0.1:${endpoint.port}`).replace('export TOKEN=fxt_…\n', ''),
    )
    const [, , session = ''] = (await shell(define + hello)).split('\t')
    const answers = await shell(`${define}SESSION=${session}\n${posts.join('')}`)
    const heads = answers.split('\n').filter((line) => line.startsWith('fxd\t1\t'))
    expect(heads).toEqual(posts.map((_, at) => `fxd\t1\t${session}\t${at + 1}`))
    expect(feed.taken.map(([line]) => line?.line)).toEqual(names.slice(1))
  })
})

describe('fxd terminal token', () => {
  const open = () => {
    const path = join(temporaryFolder(), 'terminal-tokens')
    const make = async (more = '', feed = 'BROKERA:ZERO'): Promise<string> => {
      const { code, out, err } = await fxd(`terminal token ${feed} ${more}`, { FXD_TERMINAL_TOKENS: path })
      expect({ code, err }).toEqual({
        code: 0,
        err: expect.stringContaining(`${feed}: its terminal may post`) as string,
      })
      return out.trim()
    }
    const feedsOf = (...tokens: readonly string[]) =>
      tokens.map((token) => feedOfToken(token, readTerminalTokens(path)))
    return { path, make, feedsOf }
  }

  test('prints a token that the endpoint knows, and writes its digest to a file for its owner only', async () => {
    const { path, make, feedsOf } = open()
    const token = await make()
    expect(token).toMatch(/^fxt_[0-9a-f]{32}$/)
    expect(feedsOf(token)).toEqual(['BROKERA:ZERO'])
    expect(statSync(path).mode & 0o077).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toContain(token)
  })

  test('replaces the older of two, and leaves comments and other feeds as they are', async () => {
    const { path, make, feedsOf } = open()
    writeFileSync(path, '# of the desk')
    const other = await make('', 'BROKERB:LIVE')
    const [first, second, third] = [await make(), await make(), await make()]
    expect(feedsOf(first, second, third, other)).toEqual([
      undefined,
      'BROKERA:ZERO',
      'BROKERA:ZERO',
      'BROKERB:LIVE',
    ])
    expect(readFileSync(path, 'utf8')).toMatch(/^# of the desk\nBROKERB/)
  })

  test('with --remove-older leaves no earlier token of the feed', async () => {
    const { make, feedsOf } = open()
    const first = await make()
    const second = await make('--remove-older')
    expect(feedsOf(first, second)).toEqual([undefined, 'BROKERA:ZERO'])
  })

  test.each([
    ['zero', {}, 64, 'got "zero", wanted a feed such as BROKERA:ZERO'],
    ['BROKERA:ZERO', { FXD_DATA_DIR: '/nowhere/at/all' }, 71, 'cannot be written: its folder does not exist'],
  ])('of %s with %o fails with %i', async (feed, environment, code, sentence) => {
    expect(await fxd(`terminal token ${feed}`, environment as Record<string, string>)).toEqual({
      code,
      out: '',
      err: expect.stringContaining(sentence) as string,
    })
  })
})

describe('fxd terminal say', () => {
  test('posts the examples in one session, and prints the answers as sentences', async () => {
    const { endpoint, feed } = await openEndpoint()
    const series = { raw: 'EURUSD', resolution: '1' } as const
    const time = feedSeconds(1_767_614_340)
    feed.answer = [
      { line: 'select', raw: 'EURUSD' },
      { line: 'newest', series, time },
      { line: 'newest', series, time: undefined },
      { line: 'want', series, span: { from: time, to: feedSeconds(1_767_614_400) } },
      { line: 'pause', ms: 500 },
      { line: 'standby' },
      { line: 'say', text: 'Allow the URL.' },
    ]
    const { code, out, err } = await fxd(
      `terminal say 127.0.0.1:${endpoint.port} --token ${terminalToken}`,
      {},
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(feed.taken.map(([line]) => line?.line)).toEqual(names.slice(1))
    expect(out).toContain('Posting hello as 0/0.\n  The collector wants the catalogue: symbol lines, then')
    for (const sentence of [
      'The feed lists EURUSD: add it to the Market Watch.',
      'The collector wants the newest bars of EURUSD at 1 from 2026-01-05 11:59 (broker time) on.',
      'The collector wants the newest bars of EURUSD at 1 from the bar that is forming now on.',
      'The collector wants the bars of EURUSD at 1 from 2026-01-05 11:59 (broker time) to before 2026-01-05 12:00 (broker time).',
      'The collector wants the next post after 500 ms at the earliest.',
      'The collector is on standby: another one leads, and it takes ticks only.',
      'The collector says: Allow the URL.',
    ])
      expect(out).toContain(`  ${sentence}\n`)
  })

  test('posts the lines of a file, an empty line between two posts, after a hello of its own', async () => {
    const { endpoint, feed } = await openEndpoint()
    const file = join(temporaryFolder(), 'lines')
    writeFileSync(file, 'tick\t60\tA\nconnected\t1\n\n\nconnected\t0')
    const { code } = await fxd(
      `terminal say http://127.0.0.1:${endpoint.port}/zero/0 ${file} --token ${terminalToken}`,
      {},
    )
    expect(code).toBe(0)
    expect(feed.begun).toHaveLength(1)
    expect(feed.taken).toEqual([
      [
        { line: 'tick', time: 60, raw: 'A' },
        { line: 'connected', is: true },
      ],
      [{ line: 'connected', is: false }],
    ])
  })

  test.each([
    [
      'a wrong token',
      `fxt_${'f'.repeat(32)}`,
      1,
      'The collector refused this post (401 TOKEN_INVALID): The token',
    ],
    ['no token', undefined, 64, "required option '--token <token>' not specified"],
  ])('with %s fails with the reason', async (_what, token, code, sentence) => {
    const { endpoint } = await openEndpoint()
    const given = token === undefined ? '' : `--token ${token}`
    const outcome = await fxd(`terminal say 127.0.0.1:${endpoint.port} ${given}`, {})
    expect(outcome).toMatchObject({ code, err: expect.stringContaining(sentence) as string })
  })

  test.each([
    ['127.0.0.1:1', '', 69, 'http://127.0.0.1:1/v1/terminal does not answer: '],
    ['127.0.0.1:1', 'nowhere.txt', 66, 'The file nowhere.txt does not exist.'],
    ['http://:', '', 64, 'got the address http://:, wanted one such as 127.0.0.1:8091'],
  ])('to %s with the file %j fails with %i', async (address, file, code, sentence) => {
    const outcome = await fxd(`terminal say ${address} ${file} --token ${terminalToken}`, {})
    expect(outcome).toMatchObject({ code, err: expect.stringContaining(sentence) as string })
  })
})
