import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fxd, openCliFixture } from '../../test/support/fixtures/cli-fixture.ts'
import { bareEnv } from '../../test/support/processes/bare-env.ts'

describe('config', () => {
  test('prints each variable with what is set, its default and its meaning', async () => {
    const environment = { FXD_DATA_DIR: '/somewhere' }
    const { out: json } = await fxd('config --json', environment)
    const variables = JSON.parse(json) as {
      name: string
      value: string
      default: string
      meaning: string
    }[]
    expect(variables.find(({ name }) => name === 'FXD_DATA_DIR')).toMatchObject({
      value: '/somewhere',
      default: './data',
    })
    const { out } = await fxd('config', environment)
    for (const { name, meaning } of variables) {
      expect(out).toContain(name)
      expect(out).toContain(meaning)
    }
  })

  test.each([
    ['config', { FXD_HTTP_ADDR: 'nowhere' }, /FXD_HTTP_ADDR is "nowhere"/],
    ['keys list', { FXD_HTTP_ADR: 'x' }, /FXD_HTTP_ADR is not a variable.* did you mean FXD_HTTP_ADDR\?/],
    ['all', { FXD_TRUSTED_PROXIES: 'true' }, /FXD_TRUSTED_PROXIES is "true"/],
  ])('%s refuses an invalid or unknown variable by name', async (line, more, sentence) => {
    const outcome = await fxd(line, more)
    expect(outcome.code).toBe(78)
    expect(outcome.err).toMatch(sentence)
  })
})

describe('help', () => {
  test.each([
    ['--help', /keys .*[\s\S]*feeds .*[\s\S]*config/],
    ['--help', /Exit codes:[\s\S]*69 {2}the service does not answer/],
    ['keys --help', /create.*[\s\S]*rotate/],
    ['keys create --help', /--plan <plan>[\s\S]*--allow-ip <list>[\s\S]*--json/],
    ['feeds --help', /purge/],
    ['feeds purge --help', /cannot be\s+brought back/],
    ['config --help', /--json/],
    ['all --help', /FXD_DATA_DIR/],
    ['help', /keys .*[\s\S]*symbols .*[\s\S]*import/],
    ['-h', /keys .*[\s\S]*feeds/],
    ['help keys', /create.*[\s\S]*rotate/],
    ['help keys create', /--plan <plan>/],
    ['keys help', /create.*[\s\S]*rotate/],
    ['keys help create', /--plan <plan>/],
    ['keys create -h', /--plan <plan>/],
    ['keys create help', /--plan <plan>/],
    ['import help', /- is standard input/],
    ['help import', /- is standard input/],
    ['help help', /keys .*[\s\S]*symbols .*[\s\S]*import/],
    ['help import FILE', /- is standard input/],
    ['all help', /FXD_DATA_DIR/],
    ['feeds purge help', /cannot be\s+brought back/],
    ['import -h', /- is standard input/],
    ['symbols -h', /remove/],
  ])('"fxd %s" prints help and exits with 0', async (line, words) => {
    const outcome = await fxd(line, {})
    expect(outcome).toMatchObject({ code: 0, err: '' })
    expect(outcome.out).toMatch(words)
    expect(outcome.out).toMatch(/\n$/)
    expect(outcome.out).not.toContain('help [command]')
  })

  test.each([
    ['imprt', 'import'],
    ['help imprt', 'import'],
    ['help keys creat', 'create'],
    ['keys help creat', 'create'],
  ])('"fxd %s" refuses the unknown command with a suggestion and exits with 64', async (line, meant) => {
    const outcome = await fxd(line, {})
    expect(outcome).toMatchObject({ code: 64, out: '' })
    expect(outcome.err).toContain(`(Did you mean ${meant}?)`)
  })

  test('the version is that of the package', async () => {
    expect((await fxd('--version', {})).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

test('output that cannot be written is an error; a reader that closes early is not', () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const shell = (after: string) => {
    const script = `"$0" "$1" config --json ${after}`
    const args = ['-o', 'pipefail', '-c', script, process.execPath, main]
    const { status, stderr } = spawnSync('bash', args, { env: bareEnv() })
    return [status, String(stderr)]
  }
  expect(shell('> /dev/full')).toEqual([
    71,
    expect.stringMatching(/^fxd: the output is incomplete: .*ENOSPC/),
  ])
  expect(shell('| true')).toEqual([0, ''])
})

test('the program uses the command line and the environment, and exits with the command’s code', async () => {
  const { environment, close } = await openCliFixture()
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const start = (...args: string[]) =>
    spawn(process.execPath, [main, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const listing = start('feeds', 'list', '--json')
  const [out, [listed]] = await Promise.all([
    listing.stdout.toArray(),
    once(listing, 'close') as Promise<[number]>,
  ])
  expect(listed).toBe(0)
  expect(JSON.parse(out.join(''))).toContainEqual(expect.objectContaining({ feed: 'BROKERA:ZERO' }))
  const [refused] = (await once(start('keys', 'show', 'k_1'), 'close')) as [number]
  await close()
  expect(refused).toBe(1)
})
