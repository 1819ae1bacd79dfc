import { tidyRule } from './rule.ts'
import { type TextFile, written } from './tree.ts'

/** A test may list more cases than a reader wants to see of a service. */
const linesMax = (path: string): number => (path.startsWith('test/') ? 400 : 300)

const checkSizes = (files: readonly TextFile[]): string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    const most = linesMax(path)
    return lines > most ? [`${path} has ${lines} lines, ${most} at most; one idea per file`] : []
  })

tidyRule('a file holds one idea', {
  check: checkSizes,
  on: written,
  atLeast: 80,
  planted: [
    { path: 'services/core/bars/bar.ts', text: 'export {}\n'.repeat(301), complaint: 'has 301 lines' },
    { path: 'test/acceptance/history.test.ts', text: 'export {}\n'.repeat(401), complaint: 'has 401 lines' },
  ],
  fine: [{ path: 'services/core/bars/bar.ts', text: 'export {}\n'.repeat(300) }],
})
