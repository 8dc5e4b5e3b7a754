// How TypeScript becomes JavaScript, for the build and for jest alike.
module.exports = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
  module: { type: 'commonjs', importInterop: 'node', ignoreDynamic: true },
};
