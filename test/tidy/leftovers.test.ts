import { tidyRule } from './rule.ts'
import { forbid } from './rules/phrases.ts'
import { everything, readable, tests } from './tree.ts'

const path = 'services/rest/server.test.ts'

/** Leaves out test/tidy, which contains the planted examples below. */
const outsideTidy = (file: { path: string }): boolean => !file.path.startsWith('test/tidy/')

tidyRule('no file has a leftover marker', {
  check: forbid({ found: /\b(TODO|FIXME|XXX|HACK|WIP)\b/, cure: 'do it now, or file an issue and say why' }),
  on: readable.filter(outsideTidy),
  atLeast: 100,
  planted: [
    { path, text: 'const a = 1\n// TODO: more', complaint: ':2 has "TODO"' },
    { path: 'README.md', text: 'FIXME', complaint: 'FIXME' },
  ],
  fine: [{ path, text: 'const hackathon = "todo list"' }],
})

tidyRule('no test is skipped or focused', {
  check: forbid({
    found:
      /\b((test|it|describe|suite)(\.\w+)*\.(only|skip|todo|skipIf|runIf|fails)\b|[xf](it|describe|test)\()/,
    cure: 'let it run, or delete it',
  }),
  on: tests.filter(outsideTidy),
  atLeast: 20,
  planted: [
    { path, text: "test.only('a', () => {})", complaint: 'test.only' },
    { path, text: "describe.concurrent.skip('a', () => {})", complaint: 'describe.concurrent.skip' },
    { path, text: "it.todo('a')", complaint: 'it.todo' },
    { path, text: "test.skipIf(slow)('a', () => {})", complaint: 'test.skipIf' },
    { path, text: "xit('a', () => {})", complaint: 'xit(' },
  ],
  fine: [{ path, text: "test.each([1])('a', () => {})\nlist.skip(3)\nexit()" }],
})

tidyRule('no secret is committed', {
  check: forbid(
    {
      // Examples are repeated patterns. A real key is none.
      found: /\bfxd_(?!([0-9a-f]{1,16})\1+\b)[0-9a-f]{32}\b/,
      cure: 'issue the key in the test; in papers write a repeated pattern',
    },
    {
      found:
        /-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\b(ghp|npm)_\w{36}\b|\beyJ[\w-]{20,}\.[\w-]{20,}\./,
      cure: 'make it while the test runs, and revoke this one',
    },
  ),
  on: everything.filter(outsideTidy),
  atLeast: 100,
  planted: [
    {
      path: 'test/data/key.txt',
      text: 'fxd_3b1f0c9a7d5e42868ac01f2e93b7d644',
      complaint: 'issue the key in the test',
    },
    { path: 'test/data/ca.pem', text: '-----BEGIN EC PRIVATE KEY-----', complaint: 'revoke this one' },
  ],
  fine: [{ path: 'README.md', text: 'fxd_0123456789abcdef0123456789abcdef fxd_<32 hex>' }],
})
