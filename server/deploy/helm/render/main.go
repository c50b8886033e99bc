// Renders a chart as `helm template` does, for tests on machines without Helm: with the same template engine (Go's), the same
// library of functions (sprig) and Helm's own functions and objects as far as the chart uses them.
//
//	render CHART < {"release": "name", "namespace": "name", "values": {...}} > manifests
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type request struct {
	Release   string                 `json:"release"`
	Namespace string                 `json:"namespace"`
	Values    map[string]interface{} `json:"values"`
}

// Helm's .Files: an absent file is empty.
type files struct{ chart string }

func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(f.chart, name))
	if err != nil {
		return ""
	}
	return string(text)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	// As in Helm: a chart cannot read the environment of who installs it.
	delete(all, "env")
	delete(all, "expandenv")
	all["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	return all
}

func main() {
	chart := os.Args[1]
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		fail(err)
	}
	var about struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal(text, &about); err != nil {
		fail(err)
	}
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		fail(err)
	}
	sort.Strings(paths)

	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	base := about.Name + "/templates"
	nameOf := func(path string) string { return base + "/" + filepath.Base(path) }
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			fail(err)
		}
		if _, err := root.New(nameOf(path)).Parse(string(text)); err != nil {
			fail(err)
		}
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "_") || filepath.Ext(path) == ".txt" {
			continue
		}
		objects := map[string]interface{}{
			"Values":   asked.Values,
			"Chart":    about,
			"Files":    files{chart},
			"Release":  map[string]interface{}{"Name": asked.Release, "Namespace": asked.Namespace, "Service": "Helm"},
			"Template": map[string]interface{}{"Name": nameOf(path), "BasePath": base},
		}
		var made strings.Builder
		if err := root.ExecuteTemplate(&made, nameOf(path), objects); err != nil {
			fail(err)
		}
		// Helm replaces what a missing value leaves.
		fmt.Printf("---\n# Source: %s\n%s\n", nameOf(path), strings.ReplaceAll(made.String(), "<no value>", ""))
	}
}
