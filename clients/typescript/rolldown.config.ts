export default {
  input: 'clients/typescript/src/index.ts',
  // No comments with file names.
  experimental: { attachDebugInfo: 'none' },
  output: {
    file: 'clients/typescript/dist/index.js',
    format: 'esm',
    sourcemap: true,
    comments: false,
    // Node prints the line of an uncaught error, so that lines must be short.
    minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
    plugins: [
      {
        name: 'spaces',
        // They compress better than tabs, and the columns of the source map stay right.
        generateBundle(_: unknown, { 'index.js': file }: Record<'index.js', { code: string }>) {
          file.code = file.code.replaceAll('\t', ' ')
        },
      },
    ],
  },
}
