import { houseRule } from './house-rule.ts'
import { type TextFile, written } from './tree.ts'

const linesMax = 300

const checkSizes = (files: readonly TextFile[]): string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    return lines > linesMax ? [`${path} has ${lines} lines, ${linesMax} at most; one idea per file`] : []
  })

houseRule('a file holds one idea', {
  check: checkSizes,
  on: written,
  atLeast: 80,
  planted: [
    {
      path: 'services/core/bar.ts',
      text: 'export {}\n'.repeat(linesMax + 1),
      complaint: `has ${linesMax + 1} lines`,
    },
  ],
  fine: [{ path: 'services/core/bar.ts', text: 'export {}\n'.repeat(linesMax) }],
})
