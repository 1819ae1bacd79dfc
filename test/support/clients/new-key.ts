import { fxd } from '../fixtures/cli-fixture.ts'

/** The secret of a key with such flags of `fxd keys create`, in the service that these variables lead to. */
export async function newKey(environment: Readonly<Record<string, string>>, flags: string): Promise<string> {
  const { code, out, err } = await fxd(`keys create ${flags} --json`, environment)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${err}`)
  return (JSON.parse(out) as { key: string }).key
}
