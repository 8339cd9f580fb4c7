. /tmp/atk/mkt/env.sh; python3 t13.py
for i in near far cr script desc; do echo "== $i"; A scan sc/$i </dev/null | cut -c1-200; done
A install ./sc/near </dev/null 2>&1 | cut -c1-200; echo; A install ./sc/far </dev/null 2>&1 | cut -c1-300
