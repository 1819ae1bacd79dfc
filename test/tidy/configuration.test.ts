import { expect, test } from 'vitest'
import { fxd } from '../support/fixtures/cli-fixture.ts'
import { textOf } from './tree.ts'

test('"npm run -s fxd -- config --markdown" prints docs/configuration.md, without values that are set', async () => {
  const { code, out } = await fxd('config --markdown', { FXD_QUESTDB_PASSWORD: 'hush', FXD_DATA_DIR: '/x' })
  expect(code).toBe(0)
  expect(out.match(/^\| `FXD_/gm)?.length).toBeGreaterThan(30)
  expect(out).toBe(textOf('docs/configuration.md'))
})
