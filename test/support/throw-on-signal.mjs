// Preloaded into a product under test (NODE_OPTIONS=--import=…): SIGUSR2 makes it throw where nobody catches.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('thrown by a test, caught by nobody');
  });
});
