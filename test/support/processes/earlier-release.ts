import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { cachedFolder } from './cached-folder.ts'

const repository = join(import.meta.dirname, '../../..')
/** The commit of the earlier release; as long as there is no release, the last commit before Kubernetes support. */
const commit = 'abcfceeb3a2f68f320c53905fd533ae81f8b3ebc'
/** Files that its processes need. */
const parts = ['services', 'proto', 'package.json', 'package-lock.json', 'bin']
const run = (command: string, args: readonly string[], cwd: string): Buffer =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 256 * 1024 * 1024 })

/** A sentence that says why the earlier release is unavailable; `undefined`: it is available. */
export function whyNoEarlierRelease(): string | undefined {
  try {
    run('git', ['cat-file', '-e', `${commit}^{commit}`], repository)
    return undefined
  } catch {
    return `The commit ${commit.slice(0, 7)} is missing in this copy of the repository: run "git fetch --unshallow".`
  }
}

/** The cached folder of the earlier release with its production dependencies, outside the checkout. */
export const earlierRelease = (): string =>
  cachedFolder(`release-${commit.slice(0, 12)}`, (into) => {
    const archive = run('git', ['archive', commit, ...parts], repository)
    execFileSync('tar', ['-x'], { cwd: into, input: archive, stdio: ['pipe', 'pipe', 'pipe'] })
    // It uses the Node of this checkout.
    const omitted = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
    run('npm', ['ci', ...omitted, '--loglevel=error'], into)
  })
