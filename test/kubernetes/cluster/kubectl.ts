import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export type Kubectl = (...args: readonly string[]) => Promise<string>

/** Runs a program. Resolves with its output, or rejects with its standard error. */
export async function run(
  [program, ...args]: readonly [string, ...string[]],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...options.env }, stdio: 'pipe' })
  // The program may end before it has read all input.
  child.stdin.on('error', () => undefined).end(options.input ?? '')
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [code, output, complaint] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (code === 0) return output
  throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${complaint || output}`)
}
