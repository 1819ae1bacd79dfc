import { fxd } from '../fixtures/cli-fixture.ts'

/** Makes a key by `fxd keys create` with these flags, at the service of these variables; returns its secret. */
export async function newKey(environment: Readonly<Record<string, string>>, flags: string): Promise<string> {
  const { code, out, err } = await fxd(`keys create ${flags} --json`, environment)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${err}`)
  return (JSON.parse(out) as { key: string }).key
}
